import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node } from '../../../../../src/api/index.ts';
import { leaseKind, nodeKind } from '../../../../../src/api/index.ts';
import { withGeneration } from '../../../../../src/apiserver/registry/write/prepare-write.ts';
import { configMaps, lease, leases, named, nodes, startServer } from '../../support/index.ts';

describe('the generation of an object', () => {
  const old: Node = {
    metadata: { name: 'a', generation: 4 },
    spec: { unschedulable: false, podCIDRs: ['a', 'b'] },
  };

  test('counts the changes of its spec, and nothing else', () => {
    assert.equal(withGeneration(nodeKind, { metadata: { name: 'a' } }, undefined).metadata?.generation, 1);
    const same: Node = {
      ...old,
      spec: { podCIDRs: ['a', 'b'], unschedulable: false },
      status: { phase: 'x' },
    };
    assert.equal(withGeneration(nodeKind, same, old), same, 'in whatever order the fields stand');
    const changed = withGeneration(nodeKind, { ...old, spec: { podCIDRs: ['b', 'a'] } }, old);
    assert.equal(changed.metadata?.generation, 5);
    assert.equal(old.metadata?.generation, 4, 'the old one is left alone');
    const bare = withGeneration(nodeKind, { metadata: {} }, { metadata: {}, spec: {} });
    assert.equal(bare.metadata?.generation, undefined, 'an empty spec is there in any case');
  });

  test('is kept for kinds with a spec and a status of its own only', () => {
    const made = { metadata: { name: 'a' }, spec: {} };
    assert.equal(withGeneration(leaseKind, made, undefined), made);
  });
});

describe('over the API', () => {
  test('the generation is the server’s, grows with spec and when the object is to go', async () => {
    await using server = await startServer();
    const { admin } = server;
    const path = `${nodes}/a`;
    const hold = { generation: 7, finalizers: ['example.com/hold'] };
    const made = await admin.must('POST', nodes, named('a', hold));
    assert.equal(made.metadata.generation, 1);
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    const ready = await admin.must('PUT', `${path}/status`, {
      ...made,
      spec: { providerID: 'machine:1' },
      status,
    });
    assert.equal(ready.metadata.generation, 1);
    const labelled = { ...ready, metadata: { ...ready.metadata, labels: { a: 'b' }, generation: 9 } };
    assert.equal((await admin.must('PUT', path, labelled)).metadata.generation, 1);
    const off = await admin.must('PUT', path, { ...named('a', hold), spec: { providerID: 'machine:1' } });
    assert.equal(off.metadata.generation, 2);
    await admin.must('DELETE', path);
    assert.equal((await admin.must('GET', path)).metadata.generation, 3);
    await admin.must('DELETE', path);
    assert.equal((await admin.must('GET', path)).metadata.generation, 3, 'once');
  });

  test('kinds without a status have no generation', async () => {
    await using server = await startServer();
    const made = await server.admin.must('POST', leases('default'), lease('a', { generation: 3 }));
    assert.equal(made.metadata.generation, undefined);
    const map = await server.admin.must('POST', configMaps('default'), named('a', { generation: 3 }));
    assert.equal(map.metadata.generation, undefined);
  });
});

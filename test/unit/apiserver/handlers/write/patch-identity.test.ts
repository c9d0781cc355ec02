import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lease, leases, named, nodes } from '../../support/index.ts';
import { patchLab } from '../patch-request.ts';

const lab = await patchLab();
const { admin, patch, maps, map, assertUntouched } = lab;

describe('an object stays who it is', () => {
  test('another name or namespace is 400', async () => {
    for (const sort of ['merge', 'strategic'] as const) {
      const name = await patch.refused('BadRequest', sort, map, { metadata: { name: 'other' } });
      assert.match(
        name.message ?? '',
        /the name of the object \("other"\) does not match the name on the URL/,
      );
      const space = await patch.refused('BadRequest', sort, map, { metadata: { namespace: 'kube-system' } });
      assert.match(space.message ?? '', /the namespace of the provided object does not match/);
    }
    await patch.refused('BadRequest', 'json', map, [{ op: 'remove', path: '/metadata' }]);
    await patch.refused('BadRequest', 'json', map, [{ op: 'remove', path: '/metadata/name' }]);
    await assertUntouched();
  });

  test('another uid, kind or version is 422', async () => {
    for (const sort of ['merge', 'strategic'] as const) {
      const { message } = await patch.refused('Invalid', sort, map, { metadata: { uid: 'other' } });
      assert.equal(
        message,
        'ConfigMap "settings" is invalid: metadata.uid: Invalid value: "other": field is immutable',
      );
      await patch.refused('Invalid', sort, map, { kind: 'Secret' });
      await patch.refused('Invalid', sort, map, { apiVersion: 'v2' });
    }
    await assertUntouched();
  });

  test('what the server gives is taken from nobody', async () => {
    const patched = await patch.must('merge', map, {
      apiVersion: null,
      kind: null,
      metadata: {
        uid: null,
        creationTimestamp: '2001-01-01T00:00:00Z',
        generation: 9,
        selfLink: '/x',
        namespace: null,
      },
    });
    assert.deepEqual(patched, lab.before);
    const dying = { metadata: { deletionTimestamp: '2001-01-01T00:00:00Z' } };
    assert.match((await patch.refused('Invalid', 'merge', map, dying)).message ?? '', /deletionTimestamp/);
  });

  test('an immutable field stays', async () => {
    await patch.must('merge', map, { immutable: true });
    await patch.refused('Invalid', 'merge', map, { data: { a: 'x' } });
    await patch.refused('Invalid', 'json', map, [{ op: 'remove', path: '/immutable' }]);
  });
});

describe('a subresource', () => {
  const node = `${nodes}/worker`;

  test('changes its own fields, and nobody else changes them', async () => {
    await admin.must('POST', nodes, { ...named('worker'), spec: { podCIDR: '10.0.0.0/24' } });
    const both = {
      spec: { unschedulable: true },
      status: { phase: 'Running' },
    };
    for (const sort of ['merge', 'strategic'] as const) {
      const main = await patch.must(sort, node, both);
      assert.equal(main.spec?.['unschedulable'], true);
      assert.equal(main.status?.['phase'], undefined, 'the main path leaves the status alone');
      await patch.must(sort, node, { spec: { unschedulable: null } });

      const part = await patch.must(sort, `${node}/status`, both);
      assert.equal(part.status?.['phase'], 'Running');
      assert.equal(part.spec?.['unschedulable'], undefined, 'and the status path the rest');
      await patch.must(sort, `${node}/status`, { status: { phase: null } });
    }
    const status = [{ op: 'add', path: '/status', value: { phase: 'Terminated' } }];
    assert.equal((await patch.must('json', `${node}/status`, status)).status?.['phase'], 'Terminated');
    const gone = await patch.must('json', node, [{ op: 'remove', path: '/status' }]);
    assert.equal(gone.status?.['phase'], 'Terminated');
  });

  test('is there to be patched only when it is there', async () => {
    await patch.refused('NotFound', 'merge', `${nodes}/nobody/status`, {});
    await patch.refused('NotFound', 'merge', `${map}/status`, {});
    await patch.refused('NotFound', 'apply', `${nodes}/nobody/status?fieldManager=m`, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'nobody' },
    });
  });
});

describe('a kind that is changed only on purpose', () => {
  const path = `${leases('default')}/renewed`;

  test('takes patches: they start from what is stored', async () => {
    await admin.must('POST', leases('default'), lease('renewed'));
    assert.equal(
      (await patch.must('merge', path, { spec: { leaseDurationSeconds: 9 } })).spec?.['leaseDurationSeconds'],
      9,
    );
    const without = { metadata: { resourceVersion: null } };
    const { message } = await patch.refused('Invalid', 'merge', path, without);
    assert.match(
      message ?? '',
      /metadata\.resourceVersion: Invalid value: 0x0: must be specified for an update/,
    );
  });
});

test('an object that goes can be patched, and a patch can be the last that happens to it', async () => {
  const leaving = `${maps}/leaving`;
  await admin.must('POST', maps, named('leaving', { finalizers: ['example.com/hold'] }));
  assert.equal((await admin.request('DELETE', leaving)).code, 202);
  const patched = await patch.must('merge', leaving, { metadata: { labels: { on: 'hold' } } });
  assert.ok(patched.metadata.deletionTimestamp);
  await patch.refused('Invalid', 'json', leaving, [
    { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/more' },
  ]);
  await patch.must('json', leaving, [{ op: 'remove', path: '/metadata/finalizers/0' }]);
  await admin.refused('NotFound', 'GET', leaving);
});

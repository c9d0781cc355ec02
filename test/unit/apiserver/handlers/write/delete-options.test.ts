import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { encodeEnvelope, encodeMessage } from '../../../../../src/api/codec/protobuf/index.ts';
import { deleteOptions } from '../../../../../src/api/index.ts';
import { waitFor } from '../../../../support/index.ts';
import { configMaps, lease, leases, named, objectIn, startServer } from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const maps = configMaps('default');
const hold = { finalizers: ['example.com/hold'] };

let made = 0;
/** The path of a new object. */
async function object(more: object = {}): Promise<string> {
  made += 1;
  await admin.must('POST', maps, named(`object-${made}`, more));
  return `${maps}/object-${made}`;
}

const isThere = async (path: string) => (await admin.request('GET', path)).code === 200;

describe('the options of a deletion', () => {
  test('come in a body of any version that clients send', async () => {
    for (const apiVersion of ['v1', 'meta.k8s.io/v1', 'coordination.k8s.io/v1', undefined]) {
      await admin.must('POST', leases('default'), lease('versions', hold));
      const path = `${leases('default')}/versions`;
      const body = { kind: 'DeleteOptions', apiVersion, propagationPolicy: 'Orphan' };
      assert.equal((await admin.request('DELETE', path, { body })).code, 202);
      await waitFor('the orphan finalizer to be handled', async () => {
        const { metadata } = await admin.must('GET', path);
        return metadata.finalizers?.join() === 'example.com/hold';
      });
      const { metadata } = await admin.must('GET', path);
      await admin.must('PUT', path, lease('versions', { resourceVersion: metadata.resourceVersion }));
    }
    const path = await object();
    for (const body of [
      { kind: 'DeleteOptions', apiVersion: 'apps/v1' },
      { kind: 'ConfigMap', apiVersion: 'v1' },
    ]) {
      await admin.refused('BadRequest', 'DELETE', path, { body });
    }
    assert.ok(await isThere(path));
  });

  test('in YAML and protobuf too', async () => {
    const yaml = Buffer.from('kind: DeleteOptions\napiVersion: v1\npreconditions:\n  uid: another\n');
    const type = { apiVersion: 'v1', kind: 'DeleteOptions' };
    const message = encodeMessage(deleteOptions, { preconditions: { uid: 'another' } });
    const protobuf = Buffer.from(encodeEnvelope(type, message));
    for (const [contentType, body] of [
      ['application/yaml', yaml],
      ['application/vnd.kubernetes.protobuf', protobuf],
    ] as const) {
      const path = await object();
      const headers = { 'content-type': contentType };
      await admin.refused('Conflict', 'DELETE', path, { body, headers });
      await admin.refused('Conflict', 'DELETE', maps, { body, headers });
      assert.ok(await isThere(path));
    }
  });

  test('or in parameters, which a body replaces', async () => {
    const path = await object(hold);
    await admin.request('DELETE', `${path}?propagationPolicy=Foreground`, { body: { dryRun: ['All'] } });
    assert.equal((await admin.must('GET', path)).metadata.deletionTimestamp, undefined);
    assert.equal(
      (await admin.request('DELETE', `${path}?propagationPolicy=Nonsense`, { body: {} })).code,
      202,
    );
    assert.deepEqual((await admin.must('GET', path)).metadata.finalizers, hold.finalizers);
    const other = await object();
    await admin.refused('Conflict', 'DELETE', `${other}?uid=another`);
    await admin.refused('Conflict', 'DELETE', `${other}?resourceVersion=1`);
    const { metadata } = await admin.must('GET', other);
    const query = `uid=${metadata.uid}&resourceVersion=${metadata.resourceVersion}`;
    assert.equal((await admin.request('DELETE', `${other}?${query}`)).code, 200);
  });

  test('a dry run that is asked for in either place is one', async () => {
    const path = await object();
    const asked: [string, object | undefined][] = [
      ['?dryRun=All', {}],
      ['?dryRun', { kind: 'DeleteOptions', apiVersion: 'v1' }],
      ['', { dryRun: ['All'] }],
      ['?dryRun=', undefined],
      ['?propagationPolicy=Orphan&dryRun=All', undefined],
    ];
    for (const [query, body] of asked) {
      const reply = await admin.request('DELETE', `${path}${query}`, body === undefined ? {} : { body });
      assert.ok([200, 202].includes(reply.code), reply.text);
      const { metadata } = await admin.must('GET', path);
      assert.deepEqual([metadata.deletionTimestamp, metadata.finalizers], [undefined, undefined]);
    }
  });

  test('gracePeriodSeconds=-1 is one second, which only pods take', async () => {
    for (const send of [{ body: { gracePeriodSeconds: -1 } }, {}]) {
      const reply = await admin.request('DELETE', `${await object()}?gracePeriodSeconds=-1`, send);
      assert.equal(reply.code, 200, reply.text);
    }
  });

  test('that are not met are a conflict, in the words of the reference', async () => {
    const path = await object();
    const { metadata } = await admin.must('GET', path);
    const { message } = await admin.refused('Conflict', 'DELETE', path, {
      body: { preconditions: { uid: 'x' } },
    });
    assert.ok(
      message?.endsWith(
        `: the UID in the precondition (x) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
      ),
      message,
    );
    const old = await admin.refused('Conflict', 'DELETE', path, {
      body: { preconditions: { resourceVersion: '1' } },
    });
    assert.ok(
      old.message?.endsWith(
        `: the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
      ),
      old.message,
    );
  });

  test('that are wrong are 422 with every cause', async () => {
    const path = await object();
    const wrong: [object, string, string[]][] = [
      [{ propagationPolicy: 'Sideways' }, 'propagationPolicy=Sideways', ['propagationPolicy']],
      [{ propagationPolicy: '' }, 'propagationPolicy=', ['propagationPolicy']],
      [{ gracePeriodSeconds: 2 ** 40 }, `gracePeriodSeconds=${2 ** 40}`, ['gracePeriodSeconds']],
      [
        { orphanDependents: true, propagationPolicy: 'Orphan' },
        'orphanDependents=true&propagationPolicy=Orphan',
        ['propagationPolicy'],
      ],
      [{ dryRun: ['None'] }, 'dryRun=None', ['dryRun']],
      [
        { gracePeriodSeconds: 2 ** 40, propagationPolicy: 'x', dryRun: ['x'] },
        `gracePeriodSeconds=${2 ** 40}&propagationPolicy=x&dryRun=x`,
        ['gracePeriodSeconds', 'propagationPolicy', 'dryRun'],
      ],
    ];
    for (const [body, query, fields] of wrong) {
      for (const [place, send] of [
        [path, { body }],
        [`${path}?${query}`, {}],
        [maps, { body }],
      ] as const) {
        const { details } = await admin.refused('Invalid', 'DELETE', place, send);
        assert.deepEqual([details?.group, details?.kind], ['meta.k8s.io', 'DeleteOptions']);
        assert.deepEqual(
          details?.causes?.map(({ field }) => field),
          fields,
        );
      }
    }
    assert.ok(await isThere(path));
  });

  test('that cannot be read are 400', async () => {
    const path = await object();
    for (const body of [
      '[]',
      '"x"',
      '{',
      '{"gracePeriodSeconds":"1"}',
      '{"gracePeriodSeconds":1.5}',
      '{"preconditions":[]}',
      '{"preconditions":{"uid":1}}',
      '{"orphanDependents":"yes"}',
      '{"propagationPolicy":1}',
      '{"dryRun":"All"}',
    ]) {
      await admin.refused('BadRequest', 'DELETE', path, { body });
    }
    for (const query of ['gracePeriodSeconds=soon', 'orphanDependents=perhaps', 'gracePeriodSeconds=1.5']) {
      await admin.refused('BadRequest', 'DELETE', `${path}?${query}`);
    }
    assert.ok(await isThere(path));
  });

  test('that nobody knows are passed over, as the reference does', async () => {
    const path = await object();
    const body = { nonsense: 1, ignoreStoreReadErrorWithClusterBreakingPotential: true };
    const reply = await admin.request('DELETE', path, { body });
    assert.equal(reply.code, 200);
    assert.equal(reply.headers['warning'], undefined);
  });
});

describe('the answer to a deletion', () => {
  test('is a Status with what was deleted: 200 gone, 202 while it is finalizing', async () => {
    const path = await object(hold);
    const { metadata } = await admin.must('GET', path);
    for (const round of ['first', 'again']) {
      const reply = await admin.request('DELETE', path);
      const { kind, status, code, details } = JSON.parse(reply.text);
      assert.deepEqual([reply.code, kind, status, code], [202, 'Status', 'Success', 202], round);
      assert.deepEqual(details, { name: metadata.name, kind: 'configmaps', uid: metadata.uid });
    }
    const foreground = await admin.request('DELETE', `${path}?propagationPolicy=Foreground`);
    assert.equal(foreground.code, 202);
    const going = await admin.must('GET', path);
    await admin.refused('AlreadyExists', 'POST', maps, { body: named(metadata.name ?? '') });
    await admin.must('PUT', path, { ...going, metadata: { ...going.metadata, finalizers: [] } });
    assert.ok(!(await isThere(path)));
  });

  test('a deletion that is not the first does not move its time', async () => {
    const path = await object(hold);
    await admin.request('DELETE', path);
    const before = await admin.must('GET', path);
    await admin.request('DELETE', path, { body: { gracePeriodSeconds: 100 } });
    assert.deepEqual(await admin.must('GET', path), before);
  });

  test('a name that is held by what is going says so', async () => {
    const path = await object(hold);
    await admin.request('DELETE', path);
    const { message } = await admin.refused('AlreadyExists', 'POST', maps, {
      body: named(path.split('/').at(-1) ?? ''),
    });
    assert.match(message ?? '', /^object is being deleted: configmaps "object-\d+" already exists$/);
  });
});

describe('what hangs on an object', () => {
  const owned = (owner: { metadata: { name?: string; uid?: string } }) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    blockOwnerDeletion: true,
  });

  test('goes with it, or stays and forgets it, as the policy says', async () => {
    for (const [query, body, stays] of [
      ['', undefined, false],
      ['?propagationPolicy=Background', undefined, false],
      ['', { propagationPolicy: 'Foreground' }, false],
      ['?orphanDependents=false', undefined, false],
      ['?propagationPolicy=Orphan', undefined, true],
      ['', { orphanDependents: true }, true],
    ] as const) {
      const path = await object();
      const ownerReferences = [owned(await admin.must('GET', path))];
      const dependent = `${leases('default')}/dependent`;
      await admin.must('POST', leases('default'), lease('dependent', { ownerReferences }));
      await admin.request('DELETE', `${path}${query}`, body === undefined ? {} : { body });
      await waitFor('the owner to go', async () => !(await isThere(path)));
      if (stays) {
        assert.equal((await admin.must('GET', dependent)).metadata.ownerReferences, undefined);
        await admin.request('DELETE', dependent);
      } else {
        await waitFor('the dependent to go', async () => !(await isThere(dependent)));
      }
    }
  });
});

test('a node may make its own lease by a PUT, and no other', async () => {
  const node = await server.node('put-node');
  const path = leases('kube-node-lease');
  const reply = await node.request('PUT', `${path}/put-node`, { body: lease('put-node') });
  assert.equal(reply.code, 201, reply.text);
  assert.equal(objectIn(reply).metadata.namespace, 'kube-node-lease');
  await node.refused('Forbidden', 'PUT', `${path}/another`, { body: lease('another') });
});

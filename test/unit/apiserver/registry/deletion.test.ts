import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import {
  allLeases,
  configMaps,
  lease,
  leases,
  named,
  namespaces,
  nodes,
  startServer,
} from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const hold = { finalizers: ['example.com/a', 'example.com/b'] };

const isGone = async (path: string) => (await admin.request('GET', path)).code === 404;

describe('finalizers', () => {
  test('hold an object until the last one goes', async () => {
    const path = `${nodes}/held`;
    const made = await admin.must('POST', nodes, named('held', hold));
    using watch = await admin.watch(`${nodes}?resourceVersion=${made.metadata.resourceVersion}`);
    const first = await admin.request('DELETE', path);
    assert.equal(first.code, 202);
    assert.equal(JSON.parse(first.text).code, 202);
    const dying = await admin.must('GET', path);
    assert.match(dying.metadata.deletionTimestamp ?? '', /Z$/);
    assert.equal((await admin.request('DELETE', path)).code, 202, 'again');
    assert.deepEqual(await admin.must('GET', path), dying, 'a second deletion changes nothing');
    await admin.refused('AlreadyExists', 'POST', nodes, { body: named('held') });

    const add = {
      ...dying,
      metadata: { ...dying.metadata, finalizers: [...hold.finalizers, 'example.com/c'] },
    };
    const { details } = await admin.refused('Invalid', 'PUT', path, { body: add });
    assert.equal(details?.causes?.[0]?.field, 'metadata.finalizers');

    const { deletionTimestamp: _gone, ...revived } = dying.metadata;
    const after = await admin.must('PUT', path, { ...dying, metadata: revived });
    assert.equal(after.metadata.deletionTimestamp, dying.metadata.deletionTimestamp, 'there is no way back');

    await admin.must('PUT', path, named('held', { finalizers: ['example.com/b'] }));
    const last = await admin.must('PUT', path, named('held'));
    assert.equal(last.metadata.finalizers, undefined);
    assert.ok(await isGone(path));
    assert.deepEqual(await watch.take(3), ['MODIFIED held', 'MODIFIED held', 'DELETED held']);
    const again = await admin.must('POST', nodes, named('held'));
    assert.notEqual(again.metadata.uid, made.metadata.uid, 'the name is free again');
  });

  test('preconditions hold for an object that is going too', async () => {
    await admin.must('POST', nodes, named('guarded', hold));
    await admin.request('DELETE', `${nodes}/guarded`);
    await admin.refused('Conflict', 'DELETE', `${nodes}/guarded`, { body: { preconditions: { uid: 'x' } } });
    await admin.must('PUT', `${nodes}/guarded`, named('guarded'));
  });
});

describe('namespaces', () => {
  test('one that is deleted is emptied and goes; it can be made anew', async () => {
    await admin.must('POST', namespaces, named('short'));
    for (const name of ['a', 'b', 'c']) await admin.must('POST', leases('short'), lease(name));
    assert.equal((await admin.request('DELETE', `${namespaces}/short`)).code, 202);
    await waitFor('the namespace to go', () => isGone(`${namespaces}/short`));
    assert.deepEqual(await admin.list(leases('short')), []);
    await admin.must('POST', namespaces, named('short'));
    await admin.must('POST', leases('short'), lease('a'));
  });

  test('while it goes nothing can be created in it, and what holds it is waited for', async () => {
    await admin.must('POST', namespaces, named('slow'));
    await admin.must('POST', configMaps('slow'), named('held', hold));
    await admin.request('DELETE', `${namespaces}/slow`);
    const { message, details } = await admin.refused('Forbidden', 'POST', configMaps('slow'), {
      body: named('late'),
    });
    assert.match(message ?? '', /namespace slow because it is being terminated/);
    assert.equal(details?.causes?.[0]?.reason, 'NamespaceTerminating');
    await waitFor('the content to be deleted', async () => {
      const { metadata } = await admin.must('GET', `${configMaps('slow')}/held`);
      return metadata.deletionTimestamp !== undefined;
    });
    const { status } = await admin.must('GET', `${namespaces}/slow`);
    assert.equal(status?.['phase'], 'Terminating');
    for (let round = 0; round < 5; round += 1) {
      await admin.must(
        'PUT',
        `${configMaps('slow')}/held`,
        named('held', { ...hold, labels: { round: `${round}` } }),
      );
    }
    const freed = performance.now();
    await admin.must('PUT', `${configMaps('slow')}/held`, named('held'));
    await waitFor('the namespace to go', () => isGone(`${namespaces}/slow`));
    assert.ok(performance.now() - freed < 1500, 'it is looked at when its content goes, not some time later');
  });

  test('those that everything counts on stay', async () => {
    for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
      await admin.refused('Forbidden', 'DELETE', `${namespaces}/${name}`);
    }
    await admin.must('GET', `${namespaces}/kube-node-lease`);
  });

  test('its own finalizer cannot be taken off but through finalize', async () => {
    const made = await admin.must('POST', namespaces, { ...named('kept'), spec: { finalizers: [] } });
    assert.deepEqual(made.spec?.['finalizers'], ['kubernetes']);
    assert.equal(made.metadata.labels?.['kubernetes.io/metadata.name'], 'kept');
    const bare = await admin.must('PUT', `${namespaces}/kept`, { ...named('kept'), spec: {} });
    assert.deepEqual(bare.spec?.['finalizers'], ['kubernetes']);
    assert.equal(bare.metadata.labels?.['kubernetes.io/metadata.name'], 'kept');
    await admin.refused('Invalid', 'PUT', `${namespaces}/kept/status`, {
      body: { ...named('kept'), status: { phase: 'Terminating' } },
    });
  });

  test('creations that race with its deletion leave nothing in a namespace that is not there', async () => {
    for (let round = 0; round < 15; round += 1) {
      const name = `race-${round}`;
      await admin.must('POST', namespaces, named(name));
      const creations = Array.from({ length: 12 }, (_, index) =>
        admin.request('POST', leases(name), { body: lease(`l${index}`) }),
      );
      const deletion = admin.request('DELETE', `${namespaces}/${name}`);
      const codes = (await Promise.all(creations)).map(({ code }) => code);
      assert.equal((await deletion).code, 202);
      assert.ok(
        codes.every((code) => [201, 403, 404].includes(code)),
        codes.join(),
      );
    }
    await waitFor('all to be empty', async () => {
      const left = (await admin.list(allLeases)).filter(({ metadata }) =>
        metadata.namespace?.startsWith('race-'),
      );
      const there = (await admin.list(namespaces)).filter(({ metadata }) =>
        metadata.name?.startsWith('race-'),
      );
      return left.length === 0 && there.length === 0;
    });
  });
});

describe('at once', () => {
  test('of two writers of one version one wins', async () => {
    const path = leases('default');
    for (let round = 0; round < 10; round += 1) {
      const name = `two-${round}`;
      const made = await admin.must('POST', path, lease(name));
      const writes = ['a', 'b', 'c'].map((holderIdentity) =>
        admin.request('PUT', `${path}/${name}`, { body: { ...made, spec: { holderIdentity } } }),
      );
      const codes = (await Promise.all(writes)).map(({ code }) => code);
      assert.deepEqual(codes.sort(), [200, 409, 409]);
    }
  });

  test('of creations of one name one wins, of deletions one finds it', async () => {
    const path = leases('default');
    for (let round = 0; round < 10; round += 1) {
      const creations = Array.from({ length: 4 }, () => admin.request('POST', path, { body: lease('loop') }));
      const made = (await Promise.all(creations)).map(({ code }) => code);
      assert.deepEqual(made.sort(), [201, 409, 409, 409]);
      const deletions = Array.from({ length: 4 }, () => admin.request('DELETE', `${path}/loop`));
      const gone = (await Promise.all(deletions)).map(({ code }) => code);
      assert.equal(gone.filter((code) => code === 200).length, 1, gone.join());
      assert.ok(
        gone.every((code) => code === 200 || code === 404),
        gone.join(),
      );
    }
  });

  test('unconditional writers all come through, and a deletion among them ends them', async () => {
    const path = configMaps('default');
    await admin.must('POST', path, named('busy'));
    const write = (index: number) =>
      admin.request('PUT', `${path}/busy`, {
        body: { ...named('busy'), data: { writer: `${index}` } },
      });
    const codes = (await Promise.all(Array.from({ length: 8 }, (_, index) => write(index)))).map(
      ({ code }) => code,
    );
    assert.deepEqual(new Set(codes), new Set([200]));
    const mixed = await Promise.all([
      ...Array.from({ length: 4 }, (_, index) => write(index)),
      admin.request('DELETE', `${path}/busy`),
      ...Array.from({ length: 4 }, (_, index) => write(index)),
    ]);
    assert.equal(mixed[4]?.code, 200);
    assert.ok(
      mixed.every(({ code }) => [200, 404].includes(code)),
      mixed.map(({ code }) => code).join(),
    );
    assert.ok(await isGone(`${path}/busy`));
  });

  test('versions only grow, and no two objects share one', async () => {
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, index) => admin.must('POST', nodes, named(`grow-${index}`))),
    );
    const versions = replies.map(({ metadata }) => Number(metadata.resourceVersion));
    assert.equal(new Set(versions).size, versions.length);
  });
});

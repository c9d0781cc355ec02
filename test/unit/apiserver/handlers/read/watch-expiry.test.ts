import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { FaultyStore } from '../../../../../src/testing/faults/faulty-store.ts';
import { configMaps, named, startServer } from '../../support/index.ts';

const maps = configMaps('default');
const accepted = {
  json: 'application/json',
  protobuf: 'application/vnd.kubernetes.protobuf',
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  metadata: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
};

const stores: FaultyStore[] = [];
const server = await startServer({
  wrapStore(opened) {
    const store = new FaultyStore(opened, { commit: (write, kept) => kept.commit(write) });
    stores.push(store);
    return store;
  },
});
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

/** Everything up to now is forgotten, in the store and in memory. */
async function forgetAll(): Promise<void> {
  for (const store of stores) await store.expire();
}

describe('a version that history no longer has', () => {
  test('is 410 before the stream begins, in the encoding of the client', async () => {
    const { metadata } = await admin.must('POST', maps, named('old'));
    await forgetAll();
    for (const [name, accept] of Object.entries(accepted)) {
      const reply = await admin.request(
        'GET',
        `${maps}?watch=1&resourceVersion=${metadata.resourceVersion}`,
        {
          headers: { accept },
        },
      );
      assert.equal(reply.code, 410, name);
      const type = String(reply.headers['content-type']);
      assert.equal(type, accept.split(';')[0], name);
      if (name === 'protobuf') assert.ok(reply.bytes.includes('Expired'));
      else assert.equal(JSON.parse(reply.text).reason, 'Expired');
    }
  });

  test('is an ERROR with a Status on a stream that is open, and the end of it', async () => {
    const { metadata } = await admin.must('GET', maps);
    const path = `${maps}?resourceVersion=${metadata.resourceVersion}`;
    const open = await Promise.all(
      [accepted.json, accepted.table, accepted.metadata].map((accept) => admin.watch(path, { accept })),
    );
    const whole = admin.request('GET', `${path}&watch=1`, { headers: { accept: accepted.protobuf } });
    await admin.must('POST', maps, named('before'));
    for (const watch of open) assert.equal((await watch.next()).type, 'ADDED');
    await forgetAll();
    for (const watch of open) {
      const { type, object } = await watch.next();
      assert.deepEqual([type, object.kind, object.reason, object.code], ['ERROR', 'Status', 'Expired', 410]);
      await watch.ended;
      assert.ok(watch.isComplete, 'ended in order');
      assert.equal(watch.left.length, 0);
    }
    const { code, bytes } = await whole;
    assert.equal(code, 200);
    assert.ok(bytes.includes('ERROR') && bytes.includes('Expired'));
  });
});

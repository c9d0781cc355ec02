import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { waitFor } from '../../../../support/index.ts';
import {
  configMaps,
  fastClock,
  lease,
  leases,
  named,
  namespaces,
  nodes,
  startServer,
} from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const path = leases('default');
const maps = configMaps('default');

const listVersion = async (of: string) =>
  JSON.parse((await admin.request('GET', of)).text).metadata.resourceVersion;

describe('events', () => {
  test('ADDED, MODIFIED and DELETED come in order, each with its version', async () => {
    using watch = await admin.watch(`${path}?resourceVersion=${await listVersion(path)}`);
    assert.match(watch.contentType ?? '', /^application\/json/);
    const added = await admin.must('POST', path, lease('told'));
    const changed = await admin.must('PUT', `${path}/told`, { ...added, spec: { holderIdentity: 'b' } });
    await admin.request('DELETE', `${path}/told`);
    const events = [await watch.next(), await watch.next(), await watch.next()];
    assert.deepEqual(events.slice(0, 2), [
      { type: 'ADDED', object: added },
      { type: 'MODIFIED', object: changed },
    ]);
    const deleted = events[2];
    assert.equal(deleted?.type, 'DELETED');
    assert.deepEqual(deleted?.object.spec, changed.spec, 'the last state');
    const version = Number(deleted?.object.metadata.resourceVersion);
    assert.ok(version > Number(changed.metadata.resourceVersion), 'at the version of the deletion');
    assert.equal(String(version), await listVersion(path));
  });

  test('an exact start tells what came after it and nothing else', async () => {
    const first = await admin.must('POST', path, lease('exact-1'));
    await admin.must('POST', path, lease('exact-2'));
    using watch = await admin.watch(`${path}?resourceVersion=${first.metadata.resourceVersion}`);
    assert.deepEqual(await watch.take(1), ['ADDED exact-2']);
  });

  test('a start without a version, or with 0, begins with what is there', async () => {
    await admin.must('POST', namespaces, named('state'));
    await admin.must('POST', leases('state'), lease('a'));
    await admin.must('POST', leases('state'), lease('b'));
    for (const query of ['', '?resourceVersion=', '?resourceVersion=0']) {
      using watch = await admin.watch(`${leases('state')}${query}`);
      assert.deepEqual(await watch.take(2), ['ADDED a', 'ADDED b']);
    }
  });

  test('one namespace is followed, or all of them', async () => {
    await admin.must('POST', namespaces, named('other'));
    const version = await listVersion(path);
    using here = await admin.watch(`${path}?resourceVersion=${version}`);
    using everywhere = await admin.watch(`/apis/coordination.k8s.io/v1/leases?resourceVersion=${version}`);
    await admin.must('POST', leases('other'), lease('there'));
    await admin.must('POST', path, lease('here'));
    assert.deepEqual(await here.take(1), ['ADDED here']);
    assert.deepEqual(await everywhere.take(2), ['ADDED there', 'ADDED here']);
  });

  test('many watchers all hear all, each once and in order', async () => {
    const version = await listVersion(nodes);
    const watches = await Promise.all(
      Array.from({ length: 60 }, () => admin.watch(`${nodes}?resourceVersion=${version}`)),
    );
    const expected = Array.from({ length: 40 }, (_, index) => `ADDED many-${index}`);
    for (const [index] of expected.entries()) await admin.must('POST', nodes, named(`many-${index}`));
    for (const watch of watches) {
      assert.deepEqual(await watch.take(expected.length), expected);
      assert.equal(watch.left.length, 0);
      watch[Symbol.dispose]();
    }
  });
});

describe('the end of a watch', () => {
  test('timeoutSeconds ends it in order', async () => {
    using watch = await admin.watch(`${path}?timeoutSeconds=1&resourceVersion=${await listVersion(path)}`);
    const startedMs = performance.now();
    await watch.ended;
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs > 700 && tookMs < 5000, `${tookMs} ms`);
    assert.ok(watch.isComplete, 'the stream was ended, not cut');
  });

  test('a client that goes leaves nothing behind, however it goes', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    await admin.request('GET', nodes);
    const before = timers();
    const watches = await Promise.all(
      Array.from({ length: 30 }, () => admin.watch(`${nodes}?allowWatchBookmarks=true`)),
    );
    assert.ok(timers() >= before + 30, 'each waits for its end');
    for (const watch of watches) watch[Symbol.dispose]();
    // and clients that are gone before the watch has begun
    for (let round = 0; round < 30; round += 1) {
      const connection = await admin.raw();
      connection.write(`GET ${nodes}?watch=1 HTTP/1.1\r\nhost: x\r\n\r\n`);
      if (round % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
      connection[Symbol.dispose]();
    }
    await waitFor('all timers to be gone', () => timers() <= before + 2);
  });

  test('a version that has not come is waited for, and so is the end', async () => {
    const reply = await admin.request('GET', `${path}?watch=1&resourceVersion=999999999&timeoutSeconds=1`);
    assert.equal(reply.code, 200);
    assert.equal(reply.text, '');
  });
});

describe('a slow reader', () => {
  test('is cut off and costs the others nothing', async () => {
    await using hurried = await startServer({ clock: fastClock(10) }); // a watch ends by itself after 3 to 6 minutes
    const { admin: writer } = hurried;
    const first = await writer.must('POST', maps, named('big'));
    const query = `resourceVersion=${first.metadata.resourceVersion}`;
    using slow = await writer.watch(`${maps}?${query}`);
    using quick = await writer.watch(`${maps}?${query}`);
    slow.pause();
    const annotations = { a: 'x'.repeat(200_000) };
    for (let round = 0; round < 60; round += 1) {
      const change = { ...named('big', { annotations }), data: { round: String(round) } };
      await writer.must('PUT', `${maps}/big`, change);
      assert.deepEqual(await quick.take(1), ['MODIFIED big']);
    }
    await waitFor('the log to tell', () => /too far behind/.test(hurried.logged()));
    slow.resume();
    await slow.ended;
    assert.ok(!slow.isComplete, 'cut, not ended');
    await writer.must('POST', maps, named('goes-on'));
    assert.deepEqual(await quick.take(1), ['ADDED goes-on']);
  });
});

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { waitFor } from '../../../../support/index.ts';
import type { WatchTester } from '../../support/index.ts';
import { configMaps, fastClock, leases, named, startServer } from '../../support/index.ts';

const path = leases('default');
const maps = configMaps('default');

const factor = 100;
const server = await startServer({ clock: fastClock(factor) });
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const now = async () => (await admin.must('GET', path)).metadata.resourceVersion ?? '';
const versionsIn = ({ left }: WatchTester) =>
  left.filter(({ type }) => type === 'BOOKMARK').map(({ object }) => Number(object.metadata.resourceVersion));

describe('bookmarks', () => {
  test('come about every minute, on idle kinds too, with the newest version', async () => {
    const version = await now();
    const startedMs = performance.now(); // what comes while the watch is opened on a busy machine counts too
    using watch = await admin.watch(`${path}?allowWatchBookmarks=true&resourceVersion=${version}`);
    const { metadata } = await admin.must('POST', maps, named('elsewhere'));
    const newest = Number(metadata.resourceVersion);
    await waitFor(
      'two bookmarks that know',
      () => versionsIn(watch).filter((each) => each >= newest).length >= 2,
    );
    const perMinute = (watch.left.length * 60_000) / ((performance.now() - startedMs) * factor);
    assert.ok(perMinute < 1.2, `${perMinute} a minute`);
    for (const { object } of watch.left) assert.deepEqual(Object.keys(object.metadata), ['resourceVersion']);
  });

  test('come shortly before the end and at the end, however short the watch', async () => {
    const before = await now();
    const { metadata } = await admin.must('POST', maps, named('just-before'));
    using watch = await admin.watch(
      `${path}?allowWatchBookmarks=true&timeoutSeconds=30&resourceVersion=${before}`,
    );
    await watch.ended;
    assert.ok(watch.isComplete);
    const versions = versionsIn(watch);
    assert.equal(versions.length, 2);
    assert.ok(Number(versions.at(-1)) >= Number(metadata.resourceVersion));
  });

  test('promise nothing of a version that has not come', async () => {
    using watch = await admin.watch(
      `${path}?allowWatchBookmarks=true&timeoutSeconds=100&resourceVersion=999999999`,
    );
    await watch.ended;
    assert.deepEqual(watch.left, []);
  });

  test('are not sent to those who do not ask', async () => {
    using watch = await admin.watch(`${path}?timeoutSeconds=100&resourceVersion=${await now()}`);
    await watch.ended;
    assert.deepEqual(watch.left, []);
  });
});

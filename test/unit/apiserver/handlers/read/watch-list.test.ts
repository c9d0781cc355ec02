import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { featureGates } from '../../../../../src/api/index.ts';
import { leases, named, startServer } from '../../support/index.ts';

const path = leases('default');
const streaming = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';

describe('a streaming list, with the gate WatchList on, as by default', async () => {
  const server = await startServer();
  after(() => server[Symbol.asyncDispose]());
  const { admin } = server;

  test('shows what is there, then a bookmark that says so, then what changes', async () => {
    for (const name of ['a', 'b']) await admin.must('POST', path, named(name));
    const list = JSON.parse((await admin.request('GET', path)).text);
    using watch = await admin.watch(`${path}?${streaming}&allowWatchBookmarks=true`);
    assert.deepEqual(await watch.take(2), ['ADDED a', 'ADDED b']);
    const { type, object } = await watch.next();
    assert.equal(type, 'BOOKMARK');
    assert.deepEqual(object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
    assert.ok(Number(object.metadata.resourceVersion) >= Number(list.metadata.resourceVersion));
    await admin.must('POST', path, named('c'));
    assert.deepEqual(await watch.take(1), ['ADDED c']);
  });

  test('without bookmarks there is none, and an own version is waited for', async () => {
    const { metadata } = await admin.must('POST', path, named('d'));
    using watch = await admin.watch(`${path}?${streaming}&resourceVersion=${metadata.resourceVersion}`);
    assert.deepEqual(await watch.take(4), ['ADDED a', 'ADDED b', 'ADDED c', 'ADDED d']);
    await admin.must('POST', path, named('e'));
    assert.deepEqual(await watch.take(1), ['ADDED e']);
  });

  test('that is not wanted: only what changes from now on', async () => {
    using watch = await admin.watch(`${path}?sendInitialEvents=false&resourceVersionMatch=NotOlderThan`);
    await admin.must('POST', path, named('f'));
    assert.deepEqual(await watch.take(1), ['ADDED f']);
  });

  test('is told by the metrics', async () => {
    const { text } = await admin.request('GET', '/metrics');
    const told = text.split('\n').filter((line) => line.startsWith('kubernetes_feature_enabled{'));
    assert.equal(told.length, Object.keys(featureGates).length);
    for (const line of [
      'kubernetes_feature_enabled{name="WatchList",stage="BETA"} 1',
      'kubernetes_feature_enabled{name="AuthorizeWithSelectors",stage="ALPHA"} 0',
      'kubernetes_feature_enabled{name="APIResponseCompression",stage="BETA"} 1',
      'kubernetes_feature_enabled{name="DryRun",stage=""} 1',
    ]) {
      assert.ok(told.includes(line), line);
    }
  });

  test('wants resourceVersionMatch=NotOlderThan, and is no list', async () => {
    for (const query of [
      'watch=1&sendInitialEvents=true',
      'watch=1&sendInitialEvents=false',
      'watch=1&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1',
      'watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1',
      streaming,
    ]) {
      const { details } = await admin.refused('Invalid', 'GET', `${path}?${query}`);
      assert.equal(details?.kind, 'ListOptions', query);
    }
  });
});

describe('with the gate off', async () => {
  const server = await startServer({ gates: { WatchList: false } });
  after(() => server[Symbol.asyncDispose]());

  test('it is refused, so that clients fall back', async () => {
    const { details } = await server.admin.refused('Invalid', 'GET', `${path}?watch=1&${streaming}`);
    assert.deepEqual(
      details?.causes?.map(({ field, message }) => `${field}: ${message}`),
      [
        'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
      ],
    );
    await server.admin.refused('Invalid', 'GET', `${path}?watch=1&sendInitialEvents=false`);
    await server.admin.refused('Invalid', 'GET', `${path}?${streaming}`);
  });
});

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { waitFor } from '../../../../support/index.ts';
import { allLeases, bellClock, leases, named, namespaces, nodes, startServer } from '../../support/index.ts';

/** Without streaming lists. */
const server = await startServer({ gates: { WatchList: false } });
after(() => server[Symbol.asyncDispose]());
/** How long a version is waited for. */
const clock = bellClock(3000);
const listing = await startServer({ clock });
after(() => listing[Symbol.asyncDispose]());
const { admin } = server;

const future = '999999999';
const ofList = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';

/** A namespace with two leases, one of them changed; the versions of all. */
async function furnished({ admin }: typeof server, name: string) {
  await admin.must('POST', namespaces, named(name));
  const path = leases(name);
  const { metadata: before } = await admin.must('GET', path);
  const a = await admin.must('POST', path, named('a'));
  await admin.must('POST', path, named('b'));
  await admin.must('PUT', `${path}/a`, { ...a, spec: { holderIdentity: 'changed' } });
  const { metadata: now } = await admin.must('GET', path);
  return { path, before: before.resourceVersion ?? '', now: now.resourceVersion ?? '' };
}

/** Everything that a watch of a second tells, as `TYPE name`; bookmarks by their annotation. */
async function told({ admin }: typeof server, path: string, query: string): Promise<string[]> {
  const reply = await admin.request('GET', `${path}?watch=true&timeoutSeconds=1&${query}`);
  assert.equal(reply.code, 200, reply.text);
  const lines = reply.text.split('\n').slice(0, -1);
  return lines
    .map((line) => JSON.parse(line))
    .filter(({ type, object }) => type !== 'BOOKMARK' || object.metadata.annotations !== undefined)
    .map(({ type, object }) => `${type} ${object.metadata.name ?? 'that was all'}`);
}

describe('what a watch begins with', () => {
  test('the state, without a version or with 0; else the changes after the version', async () => {
    const { path, before, now } = await furnished(server, 'starts');
    const state = ['ADDED a', 'ADDED b'];
    const starts: Record<string, string[]> = {
      '': state,
      'resourceVersion=': state,
      'resourceVersion=0': state,
      [`resourceVersion=${before}`]: [...state, 'MODIFIED a'],
      [`resourceVersion=${now}`]: [],
      [`resourceVersion=${future}`]: [],
      'allowWatchBookmarks=true': state,
      [`resourceVersion=${before}&limit=1`]: [...state, 'MODIFIED a'],
    };
    const answers = await Promise.all(Object.keys(starts).map((query) => told(server, path, query)));
    assert.deepEqual(answers, Object.values(starts));
  });

  test('a streaming list, with a bookmark at its end when bookmarks are wanted', async () => {
    const { path, before, now } = await furnished(listing, 'lists');
    const state = ['ADDED a', 'ADDED b'];
    const ended = [...state, 'BOOKMARK that was all'];
    const marks = 'allowWatchBookmarks=true';
    const none = 'sendInitialEvents=false&resourceVersionMatch=NotOlderThan';
    const starts: Record<string, string[]> = {
      [`${ofList}&${marks}`]: ended,
      [`${ofList}&${marks}&resourceVersion=`]: ended,
      [`${ofList}&${marks}&resourceVersion=0`]: ended,
      [`${ofList}&${marks}&resourceVersion=${before}`]: ended,
      [`${ofList}&${marks}&resourceVersion=${now}`]: ended,
      [ofList]: state,
      [none]: [],
      [`${none}&resourceVersion=0`]: [],
      [`${none}&resourceVersion=${before}`]: [...state, 'MODIFIED a'],
      [marks]: ended, // with the gate on, as the reference
      [`${marks}&resourceVersion=0`]: ended,
      [`${marks}&resourceVersion=${before}`]: [...state, 'MODIFIED a'],
    };
    const answers = await Promise.all(Object.keys(starts).map((query) => told(listing, path, query)));
    assert.deepEqual(answers, Object.values(starts));
  });

  test('a streaming list of a version that does not come is 504, in time', async () => {
    const path = `${leases('default')}?watch=1&${ofList}&resourceVersion=${future}`;
    const [{ details, reply }] = await Promise.all([
      listing.admin.refused('Timeout', 'GET', path),
      clock.ringForOne(),
    ]);
    assert.equal(details?.causes?.[0]?.reason, 'ResourceVersionTooLarge');
    assert.equal(reply.headers['retry-after'], '1');
  });

  test('what cannot be read is 400', async () => {
    for (const query of [
      'resourceVersion=new',
      'resourceVersion=-1',
      'timeoutSeconds=soon',
      'allowWatchBookmarks=perhaps',
      'labelSelector=a==b==c',
      'fieldSelector=spec.unknown=x',
    ]) {
      await admin.refused('BadRequest', 'GET', `${nodes}?watch=1&${query}`);
    }
    await admin.refused('BadRequest', 'GET', `${nodes}?watch=perhaps`);
  });
});

describe('how long a watch lives', () => {
  test('timeoutSeconds=-1: it begins, and soon ends in order', async () => {
    using watch = await admin.watch(`${nodes}?timeoutSeconds=-1`);
    await waitFor('the end', () => watch.isComplete);
  });

  test('as long as by default with 0, and longer than any timer holds', async () => {
    for (const seconds of ['0', '', '4294967296', '999999999999999']) {
      using watch = await admin.watch(`${nodes}?timeoutSeconds=${seconds}`);
      await admin.must('GET', nodes);
      assert.ok(!watch.isComplete, `timeoutSeconds=${seconds}`);
    }
  });
});

describe('one object', () => {
  test('is watched by its name as a field', async () => {
    const { path, before } = await furnished(server, 'single');
    await admin.must('POST', path, named('a-longer'));
    const query = `resourceVersion=${before}&fieldSelector=metadata.name%3Da`;
    const state = 'fieldSelector=metadata.name%3Da,metadata.namespace%3Dsingle';
    const seen = [told(server, path, query), told(server, allLeases, state)];
    assert.deepEqual(await Promise.all(seen), [['ADDED a', 'MODIFIED a'], ['ADDED a']]);
  });

  test('is got, not watched, by its path, as from the reference', async () => {
    const reply = await admin.request('GET', `${namespaces}/default?watch=1&timeoutSeconds=1`);
    assert.deepEqual([reply.code, JSON.parse(reply.text).kind], [200, 'Namespace']);
  });

  test('and the paths below /watch/, long deprecated, are not served', async () => {
    await admin.refused('NotFound', 'GET', '/api/v1/watch/namespaces/default');
  });
});

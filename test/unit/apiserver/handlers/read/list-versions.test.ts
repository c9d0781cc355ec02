import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { leaseKind, namespaceKind, StatusError } from '../../../../../src/api/index.ts';
import { openStore } from '../../../../../src/apiserver/storage/index.ts';
import { bellClock } from '../../../../support/bell-clock.ts';
import { isSettled, LaggingStore, listWorld } from '../list-world.ts';

/*
 * Specification, section 4.7, cell by cell. One history, and a memory that lags behind its store:
 *
 *     forgotten      past           memory           store            future
 *        ·── a ──·── b,c ────────────· d ─────────────· e (held back)   · never comes
 *
 * What an answer shows tells which state it is of.
 */
const shown = {
  past: 'a b c',
  memory: 'a b c d',
  store: 'a b c d e',
  /** The first chunk of a list with limit 2, and the rest of the list that the token belongs to. */
  chunkOfPast: 'a b …',
  chunkOfMemory: 'a b …',
  token: 'c',
} as const;

interface Moment {
  forgotten: number;
  past: number;
  memory: number;
  store: number;
  future: number;
}

/** How long a read waits for a version. */
const patienceMs = 3000;

async function history() {
  const clock = bellClock(patienceMs);
  const store = new LaggingStore(await openStore({ kind: 'memory', clock }));
  await using opening = new AsyncDisposableStack();
  const world = opening.use(await listWorld({ store, clock }));
  const make = (name: string) => world.create(leaseKind, 'default', { metadata: { name } });
  const forgotten = await make('a');
  await make('b');
  const past = await make('c');
  const token = await world.list(leaseKind, { namespace: 'default', query: { limit: '2' } });
  const memory = await make('d');
  await store.compact(past);
  store.hold();
  const { encoding } = world.registry.of(leaseKind);
  const value = encoding.encode({ metadata: { name: 'e', namespace: 'default' } });
  const outcome = await store.commit({ key: '/registry/leases/default/e', expect: 0, value });
  assert.ok(outcome.ok);
  const opened = opening.move();
  const moment: Moment = {
    forgotten,
    past,
    memory,
    store: outcome.revision,
    future: outcome.revision + 1000,
  };
  return {
    store,
    world,
    moment,
    /** The time is over that a read waits for a version. */
    waitNoLonger: clock.ring,
    token: token.metadata.continue ?? '',
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** What was seen: a state at once, a state after a wait, or a refusal. */
type Seen =
  | { at: keyof Moment; shows: string }
  | { waitsFor: keyof Moment; shows: string }
  | { code: number };

const newest: Seen = { waitsFor: 'store', shows: shown.store };
const newestChunk: Seen = { waitsFor: 'store', shows: shown.chunkOfMemory };
const any: Seen = { at: 'memory', shows: shown.memory };
const anyChunk: Seen = { at: 'memory', shows: shown.chunkOfMemory };
const exactPast: Seen = { at: 'past', shows: shown.past };
const exactPastChunk: Seen = { at: 'past', shows: shown.chunkOfPast };
const exactStore: Seen = { at: 'store', shows: shown.store };
const exactStoreChunk: Seen = { at: 'store', shows: shown.chunkOfMemory };
const token: Seen = { at: 'past', shows: shown.token };
const invalid: Seen = { code: 422 };
const badRequest: Seen = { code: 400 };
const expired: Seen = { code: 410 };
const tooLarge: Seen = { code: 504 };

type Version = '' | '0' | keyof Moment;
const versions: readonly Version[] = ['', '0', 'forgotten', 'past', 'store', 'future'];

/** resourceVersionMatch, paging, and what is seen for each version in turn. */
const table: readonly [string, 'all' | 'limit' | 'continue' | 'limit and continue', readonly Seen[]][] = [
  //                   unset        0         forgotten   past             store            future
  ['', 'all', [newest, any, any, any, newest, tooLarge]],
  ['', 'limit', [newestChunk, anyChunk, expired, exactPastChunk, exactStoreChunk, tooLarge]],
  ['', 'limit and continue', [token, token, badRequest, badRequest, badRequest, badRequest]],
  ['', 'continue', [token, token, badRequest, badRequest, badRequest, badRequest]],
  ['Exact', 'all', [invalid, invalid, expired, exactPast, exactStore, tooLarge]],
  ['Exact', 'limit', [invalid, invalid, expired, exactPastChunk, exactStoreChunk, tooLarge]],
  ['Exact', 'limit and continue', [invalid, invalid, invalid, invalid, invalid, invalid]],
  ['Exact', 'continue', [invalid, invalid, invalid, invalid, invalid, invalid]],
  ['NotOlderThan', 'all', [invalid, any, any, any, newest, tooLarge]],
  ['NotOlderThan', 'limit', [invalid, anyChunk, anyChunk, anyChunk, newestChunk, tooLarge]],
  ['NotOlderThan', 'limit and continue', [invalid, invalid, invalid, invalid, invalid, invalid]],
  ['NotOlderThan', 'continue', [invalid, invalid, invalid, invalid, invalid, invalid]],
  ['Perhaps', 'all', [invalid, invalid, invalid, invalid, invalid, invalid]],
];

type World = Awaited<ReturnType<typeof history>>;

async function see(
  { world, store, moment, waitNoLonger }: World,
  query: Record<string, string>,
): Promise<Seen> {
  const listed = world.list(leaseKind, { namespace: 'default', query });
  listed.catch(() => undefined);
  const atOnce = await isSettled(listed);
  try {
    if (!atOnce && query['resourceVersion'] !== String(moment.future)) store.release();
    else waitNoLonger();
    const { names, revision, metadata } = await listed;
    const at = (['past', 'memory', 'store'] as const).find((name) => moment[name] === revision);
    assert.ok(at, `a list at ${revision}`);
    const shows = [...names, ...(metadata.continue === undefined ? [] : ['…'])].join(' ');
    return atOnce ? { at, shows } : { waitsFor: at, shows };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { code: error.code };
  }
}

describe('a list', { concurrency: true }, () => {
  for (const [match, paging, row] of table) {
    for (const [column, version] of versions.entries()) {
      const said = `resourceVersion=${version || 'unset'}, resourceVersionMatch=${match || 'unset'}, ${paging}`;
      test(said, async () => {
        await using prepared = await history();
        const seen = await see(prepared, queryOf(prepared, match, paging, version));
        assert.deepEqual(seen, row[column]);
      });
    }
  }
});

function queryOf(
  { moment, token: given }: World,
  match: string,
  paging: string,
  version: Version,
): Record<string, string> {
  return {
    ...(match === '' ? {} : { resourceVersionMatch: match }),
    ...(version === '' ? {} : { resourceVersion: version === '0' ? '0' : String(moment[version]) }),
    ...(paging.includes('limit') ? { limit: '2' } : {}),
    ...(paging.includes('continue') ? { continue: given } : {}),
  };
}

describe('a get', { concurrency: true }, () => {
  for (const [version, expected] of [
    ['', 'waits'],
    ['0', 'at once'],
    ['forgotten', 'at once'],
    ['past', 'at once'],
    ['store', 'waits'],
    ['future', 504],
  ] as const) {
    test(`resourceVersion=${version || 'unset'}: ${expected}`, async () => {
      await using prepared = await history();
      const { world, store, moment, waitNoLonger } = prepared;
      const resourceVersion = version === '' || version === '0' ? version : String(moment[version]);
      const asked = { namespace: 'default', query: { resourceVersion } };
      const name = version === '' || version === 'store' ? 'e' : 'd';
      const got = world.get(leaseKind, name, asked);
      got.catch(() => undefined);
      const atOnce = await isSettled(got);
      if (expected === 504) {
        assert.equal(atOnce, false);
        waitNoLonger();
        await assert.rejects(got, (error) => error instanceof StatusError && error.code === 504);
      } else {
        assert.equal(atOnce, expected === 'at once');
        store.release();
        assert.equal(await got, name === 'e' ? moment.store : moment.memory);
      }
    });
  }

  test('with nothing to select by: resourceVersionMatch and limit mean nothing', async () => {
    await using world = await listWorld();
    const query = { resourceVersionMatch: 'Exact', limit: '1' };
    assert.ok((await world.get(namespaceKind, 'default', { query })) > 0);
  });
});

describe('a read that waits', { concurrency: true }, () => {
  test('for a version that does not come is told which one there is, and when to try again', async () => {
    await using prepared = await history();
    const { world, moment, waitNoLonger } = prepared;
    const query = { resourceVersion: String(moment.future), resourceVersionMatch: 'Exact' };
    const listed = world.list(leaseKind, { query });
    assert.equal(await isSettled(listed), false);
    waitNoLonger();
    await assert.rejects(listed, (error) => {
      assert.ok(error instanceof StatusError);
      assert.equal(error.message, `Too large resource version: ${moment.future}, current: ${moment.memory}`);
      assert.deepEqual(error.details, {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      });
      return true;
    });
  });

  test('for a memory that lags is no matter of a version that the client has asked for', async () => {
    await using prepared = await history();
    const { world, waitNoLonger } = prepared;
    const listed = world.list(leaseKind);
    assert.equal(await isSettled(listed), false);
    waitNoLonger();
    await assert.rejects(listed, (error) => {
      assert.ok(error instanceof StatusError);
      assert.equal(error.code, 504);
      assert.deepEqual(error.details, { retryAfterSeconds: 1 });
      return true;
    });
  });

  test('ends with its client', async () => {
    await using prepared = await history();
    const { world, moment } = prepared;
    const client = new AbortController();
    const query = { resourceVersion: String(moment.future) };
    const got = world.get(leaseKind, 'd', { namespace: 'default', query, signal: client.signal });
    got.catch(() => undefined);
    assert.equal(await isSettled(got), false);
    client.abort();
    assert.equal(await isSettled(got), true);
  });
});

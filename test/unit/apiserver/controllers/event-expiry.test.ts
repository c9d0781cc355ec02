import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Event } from '../../../../src/api/index.ts';
import { eventKind, namespaceKind } from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import { eventExpiry } from '../../../../src/apiserver/controllers/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import type { Write } from '../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { atDeletion, interleavedStore } from './interleaved-store.ts';

const context = { user: controlPlaneUser, dryRun: false };
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A store with events whose time the test holds; the controller, before whose writes others write, runs from `start` on. */
async function prepare(meanwhile: (write: Write) => Promise<unknown> | undefined = () => undefined) {
  const { log, text } = recordedLog();
  const clock = createManualClock();
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock, log });
  const registryOn = (seen: typeof storage) =>
    createRegistry({ storage: seen, clock, groupSuffix: 'k8s.io', admission: [] });
  const registry = registryOn(storage);
  const events = registry.of(eventKind);
  await registry.of(namespaceKind).create('', { metadata: { name: 'default' } }, context);
  const stop = new AbortController();
  let running = Promise.resolve();
  const event = (name: string, more: Partial<Event>): Event => ({
    metadata: { name, namespace: 'default' },
    involvedObject: {},
    ...more,
  });

  return {
    clock,
    events,
    logged: text,
    start: (ttlMs?: number) =>
      new Promise<void>((ready) => {
        const seen = interleavedStore(storage, meanwhile);
        const options = { registry: registryOn(seen), storage: seen, clock, log };
        running = eventExpiry({ ...options, ...(ttlMs === undefined ? {} : { ttlMs }) }).run(
          stop.signal,
          ready,
        );
      }),
    write: (name: string, more: Partial<Event> = {}) => events.create('default', event(name, more), context),
    touch: (name: string, count: number) =>
      events.update('default', name, event(name, { count }), '', context),
    names: () =>
      storage
        .list(events.prefix(''), '', 0)
        .items.map((stored) => events.encoding.read(stored).metadata?.name),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await storage.close();
    },
  };
}

describe('events', () => {
  test('go an hour after they were written, or written again', async () => {
    await using world = await prepare();
    await world.start();
    await world.write('early');
    await world.write('renewed');
    await world.clock.advance(30 * minuteMs);
    await world.touch('renewed', 2);
    await world.write('late');
    await world.clock.advance(28 * minuteMs);
    assert.deepEqual(world.names(), ['early', 'late', 'renewed']);
    await world.clock.advance(4 * minuteMs);
    assert.deepEqual(world.names(), ['late', 'renewed']);
    await world.clock.advance(30 * minuteMs);
    assert.deepEqual(world.names(), []);
  });

  test('go whatever they say of their time, and whatever the clock on the wall does', async () => {
    await using world = await prepare();
    await world.start();
    await world.write('from the future', { lastTimestamp: '2099-01-01T00:00:00Z' });
    await world.clock.advance(30 * minuteMs);
    world.clock.setWall(-48 * hourMs);
    await world.write('before that');
    await world.clock.advance(28 * minuteMs);
    world.clock.setWall(96 * hourMs);
    await world.clock.advance(minuteMs);
    assert.deepEqual(world.names(), ['before that', 'from the future'], 'not sooner');
    await world.clock.advance(33 * minuteMs);
    assert.deepEqual(world.names(), [], 'nor later');
  });

  test('from before the start go by the times in them', async () => {
    await using world = await prepare();
    await world.write('old');
    const now = () => new Date(world.clock.now()).toISOString();
    await world.clock.advance(50 * minuteMs);
    await world.write('young');
    const series = { count: 2, lastObservedTime: now() };
    await world.write('series', { firstTimestamp: '2025-01-01T00:00:00Z', series });
    await world.start();
    await world.clock.advance(5 * minuteMs);
    assert.deepEqual(world.names(), ['old', 'series', 'young']);
    await world.clock.advance(10 * minuteMs);
    assert.deepEqual(world.names(), ['series', 'young']);
    await world.clock.advance(50 * minuteMs);
    assert.deepEqual(world.names(), []);
  });

  test('that are renewed at the last moment stay', async () => {
    const renew = atDeletion('/registry/events/default/renewed', () => world.touch('renewed', 2));
    await using world = await prepare(renew);
    await world.start();
    await world.write('other');
    await world.write('renewed');
    await world.clock.advance(62 * minuteMs);
    assert.deepEqual(world.names(), ['renewed']);
    assert.equal(world.logged(), '');
    await world.clock.advance(62 * minuteMs);
    assert.deepEqual(world.names(), []);
  });

  test('by the thousand go page by page', async () => {
    await using world = await prepare();
    await world.start(10 * minuteMs);
    await Promise.all(Array.from({ length: 1050 }, (_, index) => world.write(`e-${index}`)));
    await world.clock.advance(5 * minuteMs);
    await world.write('kept');
    await world.clock.advance(6 * minuteMs);
    await world.clock.advanceUntil(() => world.names().length === 1, 2 * minuteMs);
    assert.deepEqual(world.names(), ['kept']);
    assert.equal(world.logged(), '');
  });
});

import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Store } from '../../../src/apiserver/storage/index.ts';
import type { Backend, StorePlace } from './backends.ts';
import { ChangeReader, startOf } from './change-reader.ts';
import { ChangingStore } from './changing-store.ts';
import { changingPrefixes, happening, pick } from './random-changes.ts';

const which = fc.nat(100);
const reading = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('read' as const),
      prefix: fc.constantFrom(...changingPrefixes),
      from: which,
      ahead: fc.nat(6).map((n) => Math.max(0, n - 4)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pause' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resume' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leaveOff' as const), which, at: which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
);
const steps = fc.array(fc.oneof({ weight: 2, arbitrary: happening }, { weight: 1, arbitrary: reading }), {
  minLength: 5,
  maxLength: 60,
});

type Steps = typeof steps extends fc.Arbitrary<infer T> ? T : never;

/** How a store is opened at a place: by itself, or with something in front. */
export type OpenAt = (place: StorePlace) => Promise<Store>;

/** Whatever happens to a store, who follows its changes sees each of them once, in order, or is told that they are gone. */
export function changesPropertySuite(backend: Backend, openAt: OpenAt): void {
  const numRuns = backend.isDurable ? 12 : 100;
  describe('readers of changes', () => {
    test('see all there is, whatever happens meanwhile', { timeout: 120_000 }, () =>
      fc.assert(
        fc.asyncProperty(steps, (plan) => followed(backend, openAt, plan)),
        // without a limit for each run, one that hangs would count as one that was not begun
        { numRuns, interruptAfterTimeLimit: 40_000, timeout: 30_000 },
      ),
    );
  });
}

async function followed(backend: Backend, openAt: OpenAt, plan: Steps): Promise<void> {
  await using place = await backend.makePlace();
  const world = await ChangingStore.open(place, openAt);
  const readers = [new ChangeReader(world, '', world.start)];
  for (const step of plan) await take(step, world, readers, backend.isDurable);
  await world.settle();
  for (const reader of readers) await reader.finish();
  await world.store.close();
}

async function take(
  step: Steps[number],
  world: ChangingStore<Store>,
  readers: ChangeReader[],
  isDurable: boolean,
): Promise<void> {
  switch (step.do) {
    case 'write':
      world.write(step.key, step.value);
      break;
    case 'settle':
      await world.settle();
      break;
    case 'compact':
      await world.compact(step.back);
      break;
    case 'openAgain':
      if (!isDurable) return;
      await world.openAgain();
      for (const reader of readers) reader.follow();
      break;
    case 'read':
      readers.push(new ChangeReader(world, step.prefix, startOf(world, step.from, step.ahead)));
      break;
    case 'pause':
      pick(readers, step.which).pause();
      break;
    case 'resume':
      pick(readers, step.which).resume();
      break;
    case 'leaveOff':
      pick(readers, step.which).leaveOff(step.at);
      break;
    case 'turn':
      await turn();
      break;
  }
}

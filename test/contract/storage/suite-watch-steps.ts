import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { CachedStore, CacheOptions } from '../../../src/apiserver/storage/index.ts';
import { createCache } from '../../../src/apiserver/storage/index.ts';
import type { Backend } from './backends.ts';
import { startOf } from './change-reader.ts';
import type { Match } from './changing-store.ts';
import { ChangingStore } from './changing-store.ts';
import { changingPrefixes, happening, pick } from './random-changes.ts';
import { WatchFollower } from './watch-follower.ts';

const matches = {
  all: () => true,
  even: (value) => Number(value) % 2 === 0,
  none: () => false,
} satisfies Record<string, Match>;

const which = fc.nat(100);
const watching = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('watch' as const),
      prefix: fc.constantFrom(...changingPrefixes),
      match: fc.constantFrom('all' as const, 'all' as const, 'even' as const, 'none' as const),
      from: fc.option(which, { freq: 2 }),
      ahead: fc.nat(6).map((n) => Math.max(0, n - 4)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stall' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resume' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('bookmark' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leaveOff' as const), which, at: which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
);
const steps = fc.array(fc.oneof({ weight: 3, arbitrary: happening }, { weight: 2, arbitrary: watching }), {
  minLength: 5,
  maxLength: 70,
});

type Step = typeof steps extends fc.Arbitrary<(infer T)[]> ? T : never;

/**
 * Whatever happens to the store, the cache and its readers, a watch is sent each change once, in order, as its selector
 * sees it; can be gone on with from anything it was sent; expires only where history is forgotten; and its bookmarks
 * are never ahead of its events.
 */
export function watchStepsSuite(backend: Backend): void {
  describe('watches', () => {
    test('are sent all there is, whatever happens meanwhile', { timeout: 120_000 }, () =>
      checked(backend, {}),
    );

    test('so too when memory keeps next to nothing', { timeout: 120_000 }, () =>
      checked(backend, { recent: { count: 3, bytes: 10_000 } }),
    );
  });
}

async function checked(backend: Backend, options: CacheOptions): Promise<void> {
  const numRuns = backend.isDurable ? 12 : 100;
  await fc.assert(
    fc.asyncProperty(steps, (plan) => watched(backend, options, plan)),
    // without a limit for each run, one that hangs would count as one that was not begun
    { numRuns, interruptAfterTimeLimit: 40_000, timeout: 30_000 },
  );
}

async function watched(backend: Backend, options: CacheOptions, plan: readonly Step[]): Promise<void> {
  await using place = await backend.makePlace();
  const world = await ChangingStore.open(place, async (at) => await createCache(await at.open(), options));
  const all = { prefix: '', match: matches.all } as const;
  const followers = [new WatchFollower(world, { ...all, from: { revision: world.start } })];
  followers.push(new WatchFollower(world, { ...all, from: 'state' }));
  for (const step of plan) await take(step, world, followers, backend.isDurable);
  await world.settle();
  for (const follower of followers) await follower.finish();
  await world.store.close();
}

async function take(
  step: Step,
  world: ChangingStore<CachedStore>,
  followers: WatchFollower[],
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
      for (const follower of followers) follower.goOn();
      break;
    case 'turn':
      await turn();
      break;
    case 'watch': {
      const from = step.from === null ? 'state' : { revision: startOf(world, step.from, step.ahead) };
      followers.push(new WatchFollower(world, { prefix: step.prefix, match: matches[step.match], from }));
      break;
    }
    default:
      tell(step, pick(followers, step.which));
  }
}

function tell(step: Extract<Step, { which: number }>, follower: WatchFollower): void {
  if (step.do === 'stall') follower.stall();
  else if (step.do === 'resume') follower.resume();
  else if (step.do === 'bookmark') follower.bookmark();
  else follower.leaveOff(step.at);
}

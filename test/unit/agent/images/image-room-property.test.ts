import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import type { FakePull } from './fake-image-service.ts';
import { podOf, startImageLab, wishOf } from './image-lab.ts';

const pods = ['a', 'b', 'c'] as const;
const images = ['x:1', 'y:1', 'z:1'] as const;
const maxParallel = 2;

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('want'),
      pod: fc.constantFrom(...pods),
      image: fc.constantFrom(...images),
      attempt: fc.nat(1),
      pullPolicy: fc.constantFrom('Always', 'IfNotPresent', 'Never'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('forget'), pod: fc.constantFrom(...pods) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('succeed', 'fail') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('away', 'back', 'removed') }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.constantFrom(0, 1000, 15_000, 400_000) }),
  },
);

test('whatever happens: equal pulls are one, no more at once than may, none for nobody, and it comes to an end', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
    using lab = startImageLab({ pulls: { maxParallel, ratePerSecond: 0, burst: 0 } });
    const ended = new Set<FakePull>();
    const running = () =>
      lab.service.pulls.filter((pull) => !ended.has(pull) && pull.signal?.aborted === false);
    const end = (error?: Error) => {
      const [pull] = running();
      if (pull === undefined) return;
      ended.add(pull);
      pull.end(error);
    };
    const wanted = new Map<string, ReturnType<typeof wishOf>>();
    for (const each of steps) {
      if (each.kind === 'want' && 'image' in each) {
        const { image, attempt } = each;
        const pullPolicy =
          each.pullPolicy === 'Always' || each.pullPolicy === 'Never' ? each.pullPolicy : 'IfNotPresent';
        const wish = wishOf({ pod: podOf(each.pod), image, attempt, pullPolicy });
        wanted.set(each.pod, wish);
        lab.room.want(wish);
      }
      if (each.kind === 'forget' && 'pod' in each) {
        wanted.delete(each.pod);
        lab.room.forget(`uid-${each.pod}`);
      }
      if (each.kind === 'succeed') end();
      if (each.kind === 'fail') end(new RuntimeError('failed', 'no'));
      if (each.kind === 'away') lab.service.failure = new RuntimeError('unavailable', 'away');
      if (each.kind === 'back') lab.service.failure = undefined;
      if (each.kind === 'removed') lab.service.images.clear();
      await lab.clock.advance('ms' in each ? each.ms : 0);
      const names = running().map(({ image }) => image);
      assert.equal(new Set(names).size, names.length, 'equal pulls are one');
      assert.ok(names.length <= maxParallel, 'no more at once than may');
      const images = new Set([...wanted.values()].map(({ image }) => image));
      assert.ok(
        names.every((name) => images.has(name)),
        'none for nobody',
      );
    }
    // Once everything works again, each pod has its image, but for those that may not pull it.
    lab.service.failure = undefined;
    lab.service.answerPull = (pull) => pull.end();
    for (const pull of running()) pull.end();
    await lab.clock.advance(1_000_000);
    for (const wish of wanted.values()) {
      const state = lab.room.want(wish);
      assert.ok(state.state === 'present' || wish.pullPolicy === 'Never', JSON.stringify([wish, state]));
    }
    for (const pod of wanted.keys()) lab.room.forget(`uid-${pod}`);
    await lab.clock.advance(0);
    assert.equal(lab.clock.sleepers, 0, 'nothing is left');
    assert.equal(lab.room.wantedImages().size, 0);
  });
  await fc.assert(property, { numRuns: 150 });
});

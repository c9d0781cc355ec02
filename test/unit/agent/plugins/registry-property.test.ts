import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PluginInfo } from '../../../../src/agent/plugins/index.ts';
import type { Behaviour } from './fake-node.ts';
import { createFakeNode } from './fake-node.ts';

type Step =
  | { do: 'put'; name: string; behaviour: Behaviour }
  | { do: 'remove'; name: string }
  | { do: 'behave'; name: string; behaviour: Behaviour }
  | { do: 'see' }
  | { do: 'wait'; ms: number };

const name = fc.constantFrom('a.sock', 'b.sock', 'sub/c.sock');
const behaviour: fc.Arbitrary<Behaviour> = fc.constantFrom(
  'good',
  'silent',
  'crashing',
  'unwanted',
  'failing',
  'slow',
  'endless',
  'deaf',
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('put' as const), name, behaviour }),
  fc.record({ do: fc.constant('remove' as const), name }),
  fc.record({ do: fc.constant('behave' as const), name, behaviour }),
  fc.record({ do: fc.constant('see' as const) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 5, 20, 300, 2000, 40_000) }),
);

type Node = ReturnType<typeof createFakeNode>;

async function play(node: Node, step: Step): Promise<void> {
  if (step.do === 'put') node.put(step.name, { behaviour: step.behaviour });
  else if (step.do === 'remove') node.remove(step.name);
  else if (step.do === 'behave') node.behave(step.name, step.behaviour);
  else if (step.do === 'see') node.see();
  else await node.clock.advance(step.ms);
}

const incarnations = (plugins: ReadonlyMap<string, PluginInfo>) =>
  Object.fromEntries([...plugins].map(([path, { madeMs }]) => [path, madeMs]));

test('after any sequence of events and a settling time, what is registered is what stands in the folder', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const node = createFakeNode();
      for (const each of steps) await play(node, each);
      // in the end all plugins are well
      for (const each of ['a.sock', 'b.sock', 'sub/c.sock']) node.behave(each, 'good');
      await node.clock.advance(5 * 60_000);
      assert.deepEqual(node.violations, []);
      assert.deepEqual(incarnations(node.registered), Object.fromEntries(node.live()));
      assert.deepEqual(
        node.registry
          .sockets()
          .map(({ path, state, lastError, nextTryMs }) => [path, state, lastError, nextTryMs]),
        [...node.live().keys()].sort().map((path) => [path, 'registered', undefined, undefined]),
      );
      await node.registry.stop();
      assert.equal(node.clock.sleepers, 0, 'nothing is left behind');
    }),
    { numRuns: 300 },
  );
});

test('a socket whose plugin is never well holds back no other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ do: fc.constant('put' as const), name: fc.constant('sick.sock'), behaviour }), {
        maxLength: 30,
      }),
      fc.array(step, { maxLength: 20 }),
      async (sick, steps) => {
        const node = createFakeNode();
        for (const each of sick) await play(node, each);
        for (const each of steps) await play(node, each);
        const well = node.put('well.sock');
        await node.clock.advance(100);
        assert.equal(node.of(well)?.state, 'registered');
        const stopped = node.registry.stop();
        await node.clock.advance(60_000); // a handler may be deaf to the signal
        await stopped;
      },
    ),
    { numRuns: 50 },
  );
});

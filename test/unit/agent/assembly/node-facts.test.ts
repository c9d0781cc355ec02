import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeFacts } from '../../../../src/agent/assembly/node-facts.ts';
import type { Node } from '../../../../src/api/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

test('a Node that the API does not give in time is the one that was read last', async () => {
  const clock = createManualClock();
  const answers: Promise<Node>[] = [Promise.resolve({ metadata: { name: 'n' } })];
  const cancelled: boolean[] = [];
  const facts = new NodeFacts({
    ...{ nodeName: 'n', clock, devices: () => ({ capacity: {}, allocatable: {} }), hostIps: () => [] },
    api: {
      // the kind is always that of Nodes
      get: async <T>(_kind: unknown, _name: string, { signal }: { signal?: AbortSignal } = {}) => {
        signal?.addEventListener('abort', () => cancelled.push(true));
        return (await (answers.shift() ?? new Promise(() => undefined))) as T;
      },
    },
    measure: () => Promise.reject(new Error('nobody measures')),
    config: () => assert.fail('nobody reads it'),
  });
  assert.equal((await facts.node())?.metadata?.name, 'n');
  await clock.advance(6000);
  const found: (string | undefined)[] = [];
  const asked = facts.node().then((node) => found.push(node?.metadata?.name));
  await clock.advance(4000);
  assert.deepEqual(found, []);
  await clock.advance(1000);
  await asked;
  assert.deepEqual(found, ['n']);
  assert.deepEqual(cancelled, [true]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeFacts } from '../../../../src/agent/assembly/node-facts.ts';
import type { EffectiveConfig } from '../../../../src/agent/config/index.ts';
import { loadConfig } from '../../../../src/agent/config/index.ts';
import type { Node } from '../../../../src/api/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { healthy } from '../node/samples.ts';

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

test('all pods together may use what is not reserved; a reload counts at once, and all is theirs where nobody is held to it', async () => {
  const stop = new AbortController();
  const ready = Promise.withResolvers<void>();
  const { config: first } = await loadConfig({ flags: {} });
  const reserved = { cpuMillis: 500, memoryBytes: 2 ** 30, storageBytes: 0, pids: 1000 };
  let config: EffectiveConfig = { ...first, reserved };
  const facts = new NodeFacts({
    ...{ nodeName: 'n', clock: createManualClock(), api: undefined, hostIps: () => [] },
    devices: () => ({ capacity: {}, allocatable: {} }),
    measure: () => Promise.resolve({ ...healthy, cpus: 2, pids: { limit: 32_768, used: 10 } }),
    config: () => config,
  });
  const running = facts.run(stop.signal, ready.resolve);
  await ready.promise;
  const { capacityBytes = 0 } = healthy.memory ?? {};
  const memoryBytes = capacityBytes - 2 ** 30;
  assert.deepEqual(facts.allPodsLimits(), { cpuMillis: 1500, memoryBytes, pids: 31_768 });
  config = { ...config, reserved: { ...reserved, cpuMillis: 250, pids: 10 ** 6 } };
  assert.deepEqual(facts.allPodsLimits(), { cpuMillis: 1750, memoryBytes, pids: 1 });
  config = { ...config, enforcement: { pods: false, groups: [] } };
  assert.deepEqual(facts.allPodsLimits(), { cpuMillis: 2000, memoryBytes: capacityBytes, pids: 32_768 });
  assert.equal(facts.memoryForPods(), memoryBytes);
  assert.equal(facts.resources().allocatable['cpu'], '1750m');
  stop.abort();
  await running;
});

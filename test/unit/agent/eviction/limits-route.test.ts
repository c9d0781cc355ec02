import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitsRoute } from '../../../../src/agent/eviction/index.ts';
import { defaultEviction } from '../node/samples.ts';
import { admin, ask, startServer } from '../server/running-server.ts';

test('/stats/limits has what is allocatable, the thresholds and what the node is short of', async () => {
  const pressure = { condition: 'MemoryPressure', since: '2026-01-02T03:04:05Z', found: 'little is left' };
  const resources = { capacity: { cpu: '2' }, allocatable: { cpu: '1800m' } };
  const route = limitsRoute({
    nodeName: 'n1',
    resources: () => resources,
    eviction: () => ({
      ...defaultEviction,
      hard: { 'memory.available': { amount: 100, text: '100' }, 'nodefs.available': { share: 0.1 } },
      soft: { 'memory.available': { amount: 300 } },
    }),
    pressures: () => [pressure],
  });
  assert.equal(route.subresource, 'stats');
  await using server = await startServer({ more: [route] });
  const { body } = await ask(server.port, 'GET', '/stats/limits', admin);
  assert.deepEqual(JSON.parse(body), {
    nodeName: 'n1',
    ...resources,
    thresholds: [
      { signal: 'memory.available', hard: true, amount: 100 },
      { signal: 'nodefs.available', hard: true, share: 0.1 },
      { signal: 'memory.available', hard: false, amount: 300 },
    ],
    pressures: [pressure],
  });
});

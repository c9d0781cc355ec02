import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRuntimeAgentCheck } from '../../../../../src/agent/doctor/checks/runtime-agent.ts';
import { makeMachine } from '../machine.ts';

const own = 'node a, root folder /roots/a';
const record = {
  ...{ id: '1', pid: 42, startTicks: '777', bootId: 'boot-1', namespace: 'pid:[1] time:[2]' },
  ...{ since: '2026-01-01T00:00:00Z', yields: false, rootDir: '/roots/a' },
};

async function judge(
  change: Partial<typeof record> | undefined,
  byAgent: Record<string, number> | undefined,
) {
  await using machine = await makeMachine({
    files: {
      'run/lock/agent.lock': change === undefined ? undefined : JSON.stringify({ ...record, ...change }),
      'proc/42/stat': `42 (node) S ${Array(18).fill('1').join(' ')} 777 1\n`,
    },
  });
  const check = createRuntimeAgentCheck({
    ...{ rootDir: '/roots/a', agentMark: own },
    place: async () => '/run/lock',
    sandboxes: async () => (byAgent === undefined ? undefined : new Map(Object.entries(byAgent))),
  });
  return await machine.run([check], 'runtime-agent');
}

describe('agents on the runtime', () => {
  test('this one alone, or none', async () => {
    assert.equal((await judge({}, { [own]: 3 })).verdict, 'ok');
    assert.equal((await judge(undefined, {})).found, 'no other one');
    assert.equal((await judge({}, undefined)).verdict, 'unknown');
  });

  test('another one that runs is named', async () => {
    const { verdict, found, advice } = await judge({ rootDir: '/roots/b' }, {});
    assert.equal(verdict, 'failed');
    assert.equal(found, 'used by another agent: process 42 with the root folder /roots/b');
    assert.match(advice ?? '', /kill 42.*--container-runtime-endpoint/);
    assert.equal((await judge({ rootDir: '/roots/b', startTicks: '1' }, {})).verdict, 'ok', 'it is gone');
  });

  test('pods of another one are reported', async () => {
    const { verdict, found } = await judge({}, { [own]: 3, 'node b, root folder /roots/b': 2 });
    assert.equal(verdict, 'warning');
    assert.equal(found, '2 pods of another agent (node b, root folder /roots/b)');
  });

  test('without a runtime nothing is known', async () => {
    await using machine = await makeMachine();
    const check = createRuntimeAgentCheck({
      ...{ rootDir: '/roots/a', agentMark: own },
      place: async () => undefined,
      sandboxes: async () => undefined,
    });
    assert.equal((await machine.run([check], 'runtime-agent')).verdict, 'unknown');
  });
});

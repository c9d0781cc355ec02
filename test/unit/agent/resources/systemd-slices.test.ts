import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CommandOutcome } from '../../../../src/agent/resources/index.ts';
import { systemdSlices } from '../../../../src/agent/resources/index.ts';

const limits = {
  cpuShares: 1024,
  cpuQuota: { quotaUs: 33_333, periodUs: 100_000 },
  memoryBytes: 1024,
  pids: 40,
};

/** A systemd that answers each command as `answers` says by its verb; 0 where it says nothing. */
function systemd(version: 1 | 2, answers: Record<string, CommandOutcome> = {}) {
  const commands: string[] = [];
  const slices = systemdSlices(version, async (argv) => {
    commands.push(argv.join(' '));
    return answers[argv[0] ?? ''] ?? { code: 0, stderr: '' };
  });
  return { slices, commands };
}

describe('slices of systemd', () => {
  test('version 2: all limits, with a quota that is never less than asked for', async () => {
    const { slices, commands } = systemd(2);
    await slices.apply('a.slice', limits);
    assert.deepEqual(commands, [
      'set-property --runtime a.slice CPUWeight=39 CPUQuota=34% CPUQuotaPeriodSec=100000us MemoryMax=1024 TasksMax=40',
      'start a.slice',
    ]);
  });

  test('version 1: the names that it has there', async () => {
    const { slices, commands } = systemd(1);
    await slices.apply('a.slice', { cpuShares: 512, memoryBytes: 1024 });
    assert.equal(commands[0], 'set-property --runtime a.slice CPUShares=512 MemoryLimit=1024');
  });

  test('without limits it is only started', async () => {
    const { slices, commands } = systemd(2);
    await slices.apply('a.slice', {});
    assert.deepEqual(commands, ['start a.slice']);
  });

  test('one that is stopped leaves no limits behind', async () => {
    const { slices, commands } = systemd(2);
    await slices.stop('a.slice');
    assert.deepEqual(commands, ['stop a.slice', 'revert --no-reload a.slice']);
  });

  test('what systemd refuses is an error with its words', async () => {
    const refused = { code: 1, stderr: 'Failed to set unit properties: Access denied\n' };
    await assert.rejects(systemd(2, { 'set-property': refused }).slices.apply('a.slice', limits), {
      message: 'cannot limit a.slice: Failed to set unit properties: Access denied',
    });
    await assert.rejects(systemd(2, { start: { code: 4, stderr: '' } }).slices.apply('a.slice', {}), {
      message: 'cannot start a.slice: systemctl ended with 4',
    });
    await assert.rejects(systemd(2, { stop: { code: null, stderr: '' } }).slices.stop('a.slice'), {
      message: 'cannot stop a.slice: systemctl ended with a signal',
    });
  });
});

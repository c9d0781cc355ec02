import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkMachine } from '../../../../src/agent/assembly/check-machine.ts';
import { ExitError, exitCodes } from '../../../../src/base/index.ts';

const head = 'Filename\tType\tSize\tUsed\tPriority\n';
const swap = `${head}/dev/sda2 partition 1048572 0 -2\n`;
const unified = '24 22 0:5 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n';
const separate = '24 22 0:5 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n';
const all = { swap: true, cgroupV1: true };
const none = { swap: false, cgroupV1: false };

const host = (swaps: string, mounts: string) => ({
  read: (path: string) => (path === '/proc/swaps' ? swaps : mounts),
});

test('a machine is refused only for what the configuration refuses, and says what to do', () => {
  checkMachine(none, host(swap, separate));
  checkMachine(all, host(head, unified));
  checkMachine({ ...all, swap: false }, host(swap, unified));
  checkMachine({ ...all, cgroupV1: false }, host(head, separate));
  const refused = (code: number, message: RegExp) => (error: unknown) =>
    error instanceof ExitError && error.exitCode === code && message.test(error.message);
  const { configuration } = exitCodes;
  assert.throws(() => checkMachine(all, host(swap, unified)), refused(configuration, /sda2.*swapoff/));
  assert.throws(() => checkMachine(all, host(head, separate)), refused(configuration, /unified_cgroup/));
});

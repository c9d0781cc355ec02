import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createProcessProbe } from '../../../../src/agent/lock/index.ts';

describe('telling one process from another', () => {
  const probe = createProcessProbe();

  test('this process is alive, and not the one that had its pid before', async () => {
    const self = await probe.self();
    assert.match(self.startTicks, /^\d+$/);
    assert.equal(await probe.verdict(self), 'alive');
    assert.equal(await probe.verdict({ ...self, startTicks: '1' }), 'gone');
  });

  test('another boot is gone, another pid namespace unknown', async () => {
    const self = await probe.self();
    assert.equal(await probe.verdict({ ...self, bootId: 'before' }), 'gone');
    assert.equal(await probe.verdict({ ...self, namespace: 'pid:[1] time:[1]' }), 'unknown');
  });

  test('a process that has ended is gone', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    const pid = child.pid ?? 0;
    await once(child, 'exit');
    assert.equal(await probe.verdict({ ...(await probe.self()), pid }), 'gone');
  });

  test('the command line is told without what a terminal would act on', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)', 'a\u001b[31mb']);
    try {
      await once(child, 'spawn');
      const { command = '' } = await probe.describe(child.pid ?? 0);
      assert.ok(command.includes('setInterval'), command);
      assert.ok(command.endsWith('a?[31mb'), command);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });

  test('unit, zombies, odd names and what cannot be read', async () => {
    const root = await mkdtemp(join(tmpdir(), 'proc-'));
    try {
      const own = join(root, String(process.pid));
      await mkdir(own);
      await mkdir(join(root, 'self/ns'), { recursive: true });
      await mkdir(join(root, 'sys/kernel/random'), { recursive: true });
      await symlink('pid:[7]', join(root, 'self/ns/pid'));
      await writeFile(join(root, 'sys/kernel/random/boot_id'), 'boot\n');
      const stat = (state: string) => `${process.pid} (a) b) ${state} ${'1 '.repeat(18)}4711 0 0\n`;
      const made = createProcessProbe(root);

      await writeFile(join(own, 'stat'), stat('S'));
      const self = await made.self();
      assert.deepEqual(self, {
        pid: process.pid,
        startTicks: '4711',
        bootId: 'boot',
        namespace: 'pid:[7] time:[none]',
      });
      assert.equal(await made.verdict(self), 'alive');
      await writeFile(join(own, 'stat'), stat('Z'));
      assert.equal(await made.verdict(self), 'gone');
      await rm(join(own, 'stat'));
      assert.equal(await made.verdict(self), 'unknown');

      assert.deepEqual(await made.describe(process.pid), {});
      await writeFile(join(own, 'cgroup'), '0::/system.slice/nodeward.service\n');
      assert.deepEqual(await made.describe(process.pid), { unit: 'nodeward.service' });
    } finally {
      await rm(root, { recursive: true });
    }
  });
});

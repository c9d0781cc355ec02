import assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { clockChecks } from '../../../../src/agent/doctor/checks/clock.ts';
import { createCriuChecks, parseCriuCheck } from '../../../../src/agent/doctor/checks/criu.ts';
import { viewLock } from '../../../../src/agent/doctor/checks/lock.ts';
import { createPortCheck } from '../../../../src/agent/doctor/checks/ports.ts';
import { findRuntimeProcess } from '../../../../src/agent/doctor/runtime-process.ts';
import type { MachineOptions } from './machine.ts';
import { makeMachine, newYear } from './machine.ts';

const signal = new AbortController().signal;

describe('the clock', () => {
  async function clock(id: string, options: MachineOptions) {
    await using machine = await makeMachine(options);
    return await machine.run(clockChecks, id);
  }

  test('whoever keeps it right is asked', async () => {
    const chrony = (status: string) => ({
      'chronyc -n tracking': {
        output: `Leap status     : ${status}\nSystem time     : 0.000012 seconds slow\n`,
      },
    });
    const says = async (programs: MachineOptions['programs']) =>
      (await clock('clock-synchronised', programs ? { programs } : {})).verdict;
    assert.equal(await says({}), 'unknown');
    assert.equal(await says(chrony('Normal')), 'ok');
    assert.equal(await says(chrony('Not synchronised')), 'warning');
    assert.equal(await says({ 'timedatectl show': { output: 'yes\n' } }), 'ok');
    assert.equal(await says({ 'timedatectl show': { output: 'no\n' } }), 'warning');
    assert.equal(await says({ 'ntpq -n': { output: 'leap=11, offset=0.0' } }), 'warning');
    const files = { 'run/systemd/timesync/synchronized': '' };
    assert.equal((await clock('clock-synchronised', { files })).verdict, 'ok');
  });

  test('a hardware clock may keep local time, and must not be minutes away', async () => {
    const rtc = async (apartSeconds: number) => {
      const files = { 'sys/class/rtc/rtc0/since_epoch': `${newYear / 1000 - apartSeconds}\n` };
      return (await clock('clock-hardware', { files })).verdict;
    };
    assert.equal(await rtc(2), 'ok');
    assert.equal(await rtc(-7200), 'ok');
    assert.equal(await rtc(400), 'warning');
    assert.equal(await rtc(40 * 365 * 86_400), 'warning');
    assert.equal((await clock('clock-hardware', {})).verdict, 'unknown');
  });

  test('what uptime counts and the process does not is a suspend', async () => {
    assert.equal((await clock('suspended', {})).verdict, 'ok');
    const slept = await clock('suspended', { awakeMs: 1000_000 - 600_000 });
    assert.deepEqual(
      [slept.verdict, slept.found],
      ['warning', 'suspended for 10 minutes in all, up for 17 minutes'],
    );
  });
});

describe('criu check', () => {
  test('its messages are explained', () => {
    assert.equal(parseCriuCheck(0, 'Looks good.\n').verdict, 'ok');
    const some = parseCriuCheck(
      0,
      'Warn  (criu/cr-check.c:824): Dirty tracking is OFF. Memory snapshot will not work.\n',
    );
    assert.deepEqual(some, {
      verdict: 'warning',
      found: 'Warn: Dirty tracking is OFF. Memory snapshot will not work.',
      advice: 'only incremental dumps need dirty tracking; nothing to do for checkpoints',
    });
    const denied = parseCriuCheck(1, 'Error (criu/cr-check.c:1): Operation not permitted\n');
    assert.equal(denied.verdict, 'failed');
    assert.match(denied.advice ?? '', /capabilities/);
    const timed = parseCriuCheck(1, '(00.000123) Error (criu/kerndat.c:9): kcmp is not implemented\n');
    assert.match(timed.advice ?? '', /CONFIG_CHECKPOINT_RESTORE/);
    assert.equal(parseCriuCheck(1, '').verdict, 'failed');
  });
});

const record = {
  id: 'x',
  pid: 42,
  startTicks: '777',
  bootId: 'boot-1',
  namespace: 'pid:[1] time:[2]',
  since: '2026-01-01T00:00:00Z',
  yields: false,
};
const stat = (ticks: string) => `42 (node (x) y) S ${Array(18).fill('1').join(' ')} ${ticks} 1\n`;

describe('the lock', () => {
  async function lock(change: Partial<typeof record> | string | undefined, ticks = '777') {
    const text = typeof change === 'string' ? change : JSON.stringify({ ...record, ...change });
    const files = {
      'run/nodeward.lock': change === undefined ? undefined : text,
      'proc/42/stat': stat(ticks),
      'proc/42/cmdline': 'node\0main.js\0agent\0',
    };
    await using machine = await makeMachine({ files });
    const view = viewLock('/run/nodeward.lock');
    const finding = await machine.run([view.check], 'lock');
    return { ...finding, agent: await view.agent(machine.host, signal) };
  }

  test('free, held, left behind, or of another container', async () => {
    assert.equal((await lock(undefined)).found, 'free: no agent runs');
    const held = await lock({});
    assert.deepEqual([held.verdict, held.agent], ['ok', 42]);
    assert.equal(held.found, 'held by process 42 (node main.js agent) since 2026-01-01T00:00:00Z');
    assert.equal((await lock({}, '778')).verdict, 'warning');
    assert.equal((await lock({ bootId: 'boot-0' })).verdict, 'warning');
    assert.equal((await lock({ namespace: 'pid:[9] time:[2]' })).verdict, 'unknown');
    assert.equal((await lock('nonsense')).verdict, 'unknown');
  });
});

describe('ports', () => {
  /** 10250 is 0x280A; a listener, an established connection and one of another port. */
  const tcp = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 00000000:280A 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 555 1 0',
    '   1: 0100007F:280B 0100007F:1234 01 00000000:00000000 00:00000000 00000000     0        0 556 1 0',
  ].join('\n');

  async function port(number: number | undefined, options: MachineOptions & { agent?: number } = {}) {
    const files = { 'proc/net/tcp': tcp, 'proc/net/tcp6': 'header\n', ...options.files };
    await using machine = await makeMachine({ ...options, files });
    const agent = async () => options.agent;
    const check = createPortCheck({ id: 'agent-port', title: 'port', port: number, flag: '--port', agent });
    return await machine.run([check], 'agent-port');
  }
  const holder = {
    'proc/42/fd/3': '-> socket:[555]',
    'proc/42/cmdline': '/usr/bin/other\0',
    'proc/42/status': 'PPid:\t41\n',
  };

  test('free, not opened, or any', async () => {
    assert.equal((await port(10_251)).verdict, 'ok');
    assert.equal((await port(0)).verdict, 'ok');
    assert.equal((await port(undefined)).verdict, 'not-applicable');
  });

  test('in use by another, by the agent, by its child, by somebody who is hidden', async () => {
    const taken = await port(10_250, { files: holder });
    assert.deepEqual([taken.verdict, taken.found], ['failed', '10250 is held by process 42 (other)']);
    assert.equal((await port(10_250, { files: holder, agent: 42 })).verdict, 'ok');
    assert.equal((await port(10_250, { files: holder, agent: 41 })).verdict, 'ok');
    assert.equal((await port(10_250, { user: 1000 })).verdict, 'unknown');
  });
});

test('the process behind the runtime’s socket is found with its environment', async () => {
  const unix =
    'Num RefCount Protocol Flags Type St Inode Path\n0000: 00000003 00000000 00000000 0001 03 1 /run/x.sock\n0000: 00000002 00000000 00010000 0001 01 99 /run/x.sock\n';
  const files = {
    'proc/net/unix': unix,
    'proc/7/fd/5': '-> socket:[99]',
    'proc/7/cmdline': '/usr/bin/containerd\0-c\0x\0',
    'proc/7/environ': 'PATH=/opt/bin\0XDG_RUNTIME_DIR=/run/work\0',
  };
  await using machine = await makeMachine({ files });
  const found = findRuntimeProcess(machine.host, 'unix:///run/x.sock');
  assert.deepEqual([found?.pid, found?.name], [7, 'containerd']);
  assert.equal(found?.env.get('XDG_RUNTIME_DIR'), '/run/work');
  assert.equal(findRuntimeProcess(machine.host, 'unix:///run/y.sock'), undefined);
});

describe('criu in the PATH of whoever serves the runtime’s socket', () => {
  const serving = (uid: number, files: Record<string, string>) => ({
    'proc/net/unix': 'Num\n0000: 00000002 00000000 00010000 0001 01 99 /run/x.sock\n',
    'proc/7/fd/5': '-> socket:[99]',
    'proc/7/cmdline': 'containerd\0',
    'proc/7/environ': 'PATH=/opt/bin\0',
    'proc/7/status': `Name:\tcontainerd\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\n`,
    'run/x.sock': '',
    'opt/bin/criu': '',
    ...files,
  });
  const same = { 'proc/7/root': '-> ../..' };

  async function ranBy(user: number, files: Record<string, string>): Promise<boolean> {
    await using machine = await makeMachine({
      files,
      user,
      programs: { '/opt/bin/criu': { output: 'Version: 4.2' } },
    });
    await chmod(join(machine.root, 'opt/bin/criu'), 0o755);
    const runtime = findRuntimeProcess(machine.host, 'unix:///run/x.sock');
    assert.equal(runtime?.env.get('PATH'), '/opt/bin');
    const { verdict } = await machine.run(
      createCriuChecks(() => runtime, true),
      'criu',
    );
    return verdict === 'ok';
  }

  test('is run when the process is root’s, or the caller’s own, and serves the socket that is there', async () => {
    assert.equal(await ranBy(0, serving(0, same)), true);
    assert.equal(await ranBy(1000, serving(1000, same)), true);
  });

  test('is not run when it is another user’s, for anybody can serve a socket of that path', async () => {
    assert.equal(await ranBy(0, serving(1000, same)), false);
    assert.equal(await ranBy(1000, serving(1001, same)), false);
  });

  test('is not run when the process sees another file there, as in a container on the host’s network', async () => {
    assert.equal(await ranBy(0, serving(0, { 'proc/7/root/run/x.sock': '' })), false);
    assert.equal(await ranBy(0, serving(0, {})), false);
  });
});

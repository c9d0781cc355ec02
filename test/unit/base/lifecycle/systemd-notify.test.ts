import assert from 'node:assert/strict';
import { chmod, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createNotifier, silentLogger, watchdogIntervalMs } from '../../../../src/base/index.ts';
import { runSuccessfully, temporaryFolder } from '../../../support/index.ts';
import { recordedLog } from '../recorded-log.ts';

const pid = 4711;

/** An environment in which the service manager has handed over `descriptor` by the name of notify. */
function handedOver(descriptor: number) {
  const names = [...Array(descriptor - 3).fill('other'), 'notify'].join(':');
  return { NOTIFY_SOCKET: '/run/systemd/notify', LISTEN_FDNAMES: names, LISTEN_PID: String(pid) };
}

describe('with a descriptor that systemd has handed over', () => {
  test('each message is written to it, in order', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'heard');
    await using heard = await open(path, 'w');
    const notifier = createNotifier(handedOver(heard.fd), pid, silentLogger());
    assert.equal(notifier.enabled, true);
    await Promise.all([notifier.send('READY=1', 'STATUS=fine\nand dandy'), notifier.send('STOPPING=1')]);
    assert.equal(await readFile(path, 'utf8'), 'READY=1\nSTATUS=fine and dandySTOPPING=1');
  });

  test('a descriptor that is broken is complained about once and never thrown', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'heard'), '');
    await using readOnly = await open(join(folder.path, 'heard'), 'r');
    const { log, text } = recordedLog();
    const notifier = createNotifier(handedOver(readOnly.fd), pid, log);
    for (let round = 0; round < 3; round++) await notifier.send('WATCHDOG=1');
    assert.equal(text().match(/cannot talk to systemd/g)?.length, 1);
  });
});

/** Runs the test program with a systemd-notify of our own, which writes down its arguments. */
async function withProgram(script: string): Promise<{ heard: string; logged: string }> {
  await using folder = await temporaryFolder();
  const [program, heard] = [join(folder.path, 'systemd-notify'), join(folder.path, 'heard')];
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  await writeFile(heard, '');
  const env = { PATH: folder.path, NOTIFY_SOCKET: '/nowhere', HEARD: heard };
  const notify = join(import.meta.dirname, '..', 'programs', 'notify.ts');
  const logged = await runSuccessfully(process.execPath, [notify], { env });
  return { heard: await readFile(heard, 'utf8'), logged };
}

describe('without one', () => {
  test('the systemd-notify program says it, one message after another', async () => {
    const { heard, logged } = await withProgram('for word in "$@"; do echo "[$word]" >> "$HEARD"; done');
    assert.equal(heard, '[READY=1]\n[STATUS=all is well]\n[WATCHDOG=1]\n[STOPPING=1]\n');
    assert.equal(logged.trim(), '');
  });

  test('a program that fails is complained about once, and all is tried nevertheless', async () => {
    const { heard, logged } = await withProgram('echo tried >> "$HEARD"; echo no such socket >&2; exit 1');
    assert.equal(heard, 'tried\ntried\ntried\n');
    assert.equal(logged.match(/cannot talk to systemd/g)?.length, 1);
    assert.match(logged, /no such socket/);
  });

  test('descriptors meant for another process are not touched', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'heard');
    await using heard = await open(path, 'w');
    const notifier = createNotifier(
      { ...handedOver(heard.fd), LISTEN_PID: String(pid + 1) },
      pid,
      silentLogger(),
    );
    await notifier.send('READY=1');
    assert.equal(await readFile(path, 'utf8'), '');
  });
});

test('without a service manager nothing is said and nothing fails', async () => {
  for (const env of [{}, { NOTIFY_SOCKET: '' }, { LISTEN_FDNAMES: 'notify' }]) {
    const notifier = createNotifier(env, pid, silentLogger());
    assert.equal(notifier.enabled, false);
    await notifier.send('READY=1');
  }
});

describe('the watchdog', () => {
  test('is fed three times within its limit', () => {
    assert.equal(watchdogIntervalMs({ WATCHDOG_USEC: '30000000' }, pid), 10_000);
    assert.equal(watchdogIntervalMs({ WATCHDOG_USEC: '30000000', WATCHDOG_PID: String(pid) }, pid), 10_000);
  });

  test('is off where it is not set, is not ours or makes no sense', () => {
    for (const env of [
      {},
      { WATCHDOG_USEC: '0' },
      { WATCHDOG_USEC: '' },
      { WATCHDOG_USEC: '-5' },
      { WATCHDOG_USEC: 'soon' },
      { WATCHDOG_USEC: 'Infinity' },
      { WATCHDOG_USEC: '30000000', WATCHDOG_PID: '1' },
    ]) {
      assert.equal(watchdogIntervalMs(env, pid), undefined, JSON.stringify(env));
    }
  });

  test('is not fed all the time, however short its limit', () => {
    assert.equal(watchdogIntervalMs({ WATCHDOG_USEC: '1000' }, pid), 50);
  });
});

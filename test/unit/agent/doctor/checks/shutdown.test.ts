import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShutdownCheckOptions } from '../../../../../src/agent/doctor/checks/shutdown.ts';
import { askLogind, createShutdownCheck } from '../../../../../src/agent/doctor/checks/shutdown.ts';
import { makeMachine } from '../machine.ts';

async function examine(options: Partial<ShutdownCheckOptions>) {
  const check = createShutdownCheck({
    seconds: 30,
    ask: async () => ({ maxDelayMs: 60_000, delays: [{ who: 'nodeward', pid: 7 }] }),
    agent: async () => 6,
    ...options,
  });
  await using machine = await makeMachine({});
  const { verdict, found } = await machine.run([check], 'shutdown-delay');
  return `${verdict}: ${found}`;
}

test('whether a shutdown of the machine waits for the pods', async () => {
  assert.equal(await examine({}), 'ok: logind waits for 60 s at most, and the agent delays it');
  assert.match(await examine({ seconds: 0 }), /^not-applicable: no shutdownGracePeriod is configured/);
  assert.equal(await examine({ seconds: undefined }), 'unknown: the configuration cannot be read');
  assert.equal(await examine({ seconds: 61 }), 'warning: logind waits for 60 s at most, pods may take 61 s');
  const others = async () => ({ maxDelayMs: 60_000, delays: [{ who: 'another', pid: 8 }] });
  assert.equal(await examine({ ask: others }), 'warning: the running agent does not delay it');
  assert.match(
    await examine({ ask: others, agent: async () => undefined }),
    /^ok: .*the agent does not run$/,
  );
});

test('a machine without D-Bus', async () => {
  const ask: ShutdownCheckOptions['ask'] = (host, signal) =>
    askLogind({ ...host, env: { DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/does/not/exist' } }, signal);
  assert.match(await examine({ ask }), /^warning: logind cannot be asked: .*ENOENT/);
});

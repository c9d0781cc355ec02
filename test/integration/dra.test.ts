/** DRA drivers as processes of their own: asked for devices through the registry, and seen through a whole agent. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { DraDrivers } from '../../src/agent/plugins/dra/index.ts';
import { DraHandler } from '../../src/agent/plugins/dra/index.ts';
import { createPluginService } from '../../src/agent/plugins/index.ts';
import { silentLogger, systemClock } from '../../src/base/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { sendSignal, temporaryFolder, waitFor } from '../support/index.ts';
import type { ExamplePlugin } from './example-plugins/start.ts';
import { startPlugin } from './example-plugins/start.ts';
import { ensureBuilt } from './installation.ts';
import type { RunningAgent } from './nodeward/index.ts';
import { nodeward, startAgent } from './nodeward/index.ts';

const name = 'dra.example.com';
const forever = new AbortController().signal;
const patience = { timeoutMs: 60_000, intervalMs: 50 };
const claims = [
  { namespace: 'default', name: 'one', uid: 'uid-1' },
  { namespace: 'default', name: 'two', uid: 'uid-2' },
];

const saysOf = (plugin: ExamplePlugin, event: string) =>
  waitFor(`the driver to be ${event}`, () => plugin.events().find((each) => each.event === event), patience);

describe('a DRA driver that the registry has found', () => {
  let home: TemporaryFolder;
  let folder: string;
  let drivers: DraDrivers;
  let stack: AsyncDisposableStack;

  before(async () => {
    stack = new AsyncDisposableStack();
    home = stack.use(await temporaryFolder('dra-'));
    folder = join(home.path, 'plugins_registry');
    const parts = { log: silentLogger(), clock: systemClock };
    const handler = stack.use(new DraHandler({ ...parts, deadlineMs: 2000 }));
    drivers = handler;
    const { service } = createPluginService({
      ...parts,
      rootDir: home.path,
      handlers: [handler],
      dependsOn: [],
    });
    const stopping = new AbortController();
    const ready = Promise.withResolvers<void>();
    const running = service.run(stopping.signal, ready.resolve);
    stack.defer(async () => {
      stopping.abort();
      await running;
    });
    await ready.promise;
  });
  after(() => stack.disposeAsync());

  const driver = (mark: string, ...args: readonly string[]) =>
    startPlugin('dra', { folder, socket: mark }, ['--mark', mark, '--name', name, ...args]);

  async function prepared(): Promise<string> {
    const results = await drivers.driver(name)?.prepare(claims, forever);
    const result = results?.get('uid-1');
    assert.ok(result !== undefined && 'devices' in result, JSON.stringify(result));
    return result.devices.map(({ cdiDeviceIds }) => cdiDeviceIds.join()).join();
  }

  const untilPrepared = (mark: string) =>
    waitFor(`${mark} to serve`, async () => (await prepared()) === `example.com/gpu=${mark}`, patience);

  const untilGone = () => waitFor('the driver to go', () => drivers.driver(name) === undefined, patience);

  test('prepares each claim apart and takes it back', async () => {
    await using plugin = await driver('one', '--refuse', 'uid-2');
    await saysOf(plugin, 'registered');
    await untilPrepared('one');
    const results = await drivers.driver(name)?.prepare(claims, forever);
    assert.deepEqual(results?.get('uid-2'), { error: 'no device is left for uid-2' });
    const back = await drivers.driver(name)?.unprepare(claims, forever);
    assert.deepEqual([...(back?.keys() ?? [])], ['uid-1', 'uid-2']);
    const said = await waitFor('the driver to tell', () =>
      plugin.events().find(({ event }) => event === 'NodeUnprepareResources'),
    );
    assert.deepEqual(said, { event: 'NodeUnprepareResources', version: 'v1', claims: ['uid-1', 'uid-2'] });
    await plugin.stop();
    await untilGone();
  });

  test('of the earlier version is asked in that', async () => {
    await using plugin = await driver('beta', '--service', 'v1beta1.DRAPlugin');
    await saysOf(plugin, 'registered');
    await untilPrepared('beta');
    await waitFor('the driver to tell', () => plugin.events().some(({ version }) => version === 'v1beta1'));
    await plugin.stop();
    await untilGone();
  });

  test('is upgraded with two sockets at once: the newer serves, and the older when that is killed', async () => {
    await using old = await driver('old');
    await untilPrepared('old');
    await using fresh = await driver('new');
    await saysOf(fresh, 'registered');
    await untilPrepared('new');
    assert.equal(drivers.driver(name)?.readiness().sockets, 2);

    // when the new one is killed, its socket stays, and the old one serves
    await fresh.kill9();
    await untilPrepared('old');
    assert.equal(drivers.driver(name)?.readiness().isConnected, true);

    // when it is started again it serves again, and the old one may go
    await using again = await driver('new');
    await saysOf(again, 'registered');
    await untilPrepared('new');
    await old.stop();
    await waitFor('one socket', () => drivers.driver(name)?.readiness().sockets === 1, patience);
    await untilPrepared('new');
    await again.stop();
    await untilGone();
  });

  test('that is killed is known and not connected, and serves when it is back', async () => {
    const plugin = await driver('one');
    await untilPrepared('one');
    const found = drivers.driver(name);
    await plugin.kill9();
    await waitFor('the end of the connection', () => found?.readiness().isConnected === false, patience);
    await assert.rejects(async () => await found?.prepare(claims, forever), /DRA driver dra\.example\.com: /);
    await using again = await driver('one');
    await saysOf(again, 'registered');
    await untilPrepared('one');
    await again.stop();
    await untilGone();
  });

  test('that hangs, or crashes while it is asked, fails in time; a device that is none is not passed on', async () => {
    await using hanging = await driver('hang', '--hang', '1');
    await saysOf(hanging, 'registered');
    await assert.rejects(prepared, /no answer within 2 s/);
    await untilPrepared('hang');
    sendSignal(hanging.pid, 'SIGSTOP');
    await assert.rejects(prepared, /no answer within 2 s/);
    sendSignal(hanging.pid, 'SIGCONT');
    await hanging.stop();
    await untilGone();

    await using crashing = await driver('crash', '--crash');
    await saysOf(crashing, 'registered');
    await assert.rejects(prepared, /DRA driver dra\.example\.com: NodePrepareResources: /);
    assert.equal((await crashing.exited).signal, 'SIGKILL');

    await using lying = await driver('crash', '--cdi', '/dev/sda');
    await saysOf(lying, 'registered');
    const results = await waitFor(
      'an answer',
      () => drivers.driver(name)?.prepare(claims, forever),
      patience,
    );
    assert.match(JSON.stringify(results.get('uid-1')), /cdi_device_ids\[0\].*must have the form/);
  });
});

describe('an agent', () => {
  let home: TemporaryFolder;
  let agent: RunningAgent;
  let rootDir: string;

  before(async () => {
    await ensureBuilt();
    home = await temporaryFolder('dra-');
    rootDir = join(home.path, 'root');
    agent = await startAgent({ rootDir, args: ['--embedded-control-plane=false'] });
  });
  after(async () => {
    await agent?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  async function details(mark: string): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await nodeward(['plugins', 'ls', '--root-dir', rootDir, '-o', 'json']);
    assert.equal(code, 0, stderr);
    const { items } = JSON.parse(stdout);
    const found = items.find(({ path }: { path: string }) => path.endsWith(`/${mark}-reg.sock`));
    return found?.details ?? {};
  }

  test('tells of each socket of a driver whether it is connected, and which is asked', async () => {
    const folder = join(rootDir, 'plugins_registry');
    const driver = (mark: string) =>
      startPlugin('dra', { folder, socket: mark }, ['--mark', mark, '--name', name]);
    await using _old = await driver('old');
    await waitFor('the old one', async () => (await details('old'))['connected'] === true, patience);
    await using fresh = await driver('new');
    await waitFor('the new one', async () => (await details('new'))['connected'] === true, patience);
    assert.deepEqual([(await details('old'))['asked'], (await details('new'))['asked']], [false, true]);
    await fresh.kill9();
    await waitFor('the old one to be asked', async () => (await details('old'))['asked'] === true, patience);
    const { connected, asked, service } = await details('new');
    assert.deepEqual([connected, asked, service], [false, false, 'v1.DRAPlugin']);
  });
});

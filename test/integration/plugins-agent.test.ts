/** Plugins of a whole agent: what `nodeward plugins ls` and `/plugins` tell of them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TemporaryFolder } from '../support/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { startRegistrar } from './example-plugins/start-registrar.ts';
import { ensureBuilt } from './installation.ts';
import type { RunningAgent } from './nodeward/index.ts';
import { nodeward, startAgent } from './nodeward/index.ts';

before(ensureBuilt);

describe('an agent without a control plane', () => {
  let home: TemporaryFolder;
  let agent: RunningAgent;
  let rootDir: string;
  let folder: string;

  before(async () => {
    home = await temporaryFolder('plugins-');
    rootDir = join(home.path, 'root');
    folder = join(rootDir, 'plugins_registry');
    agent = await start();
  });
  after(async () => {
    await agent?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  const start = () => startAgent({ rootDir, args: ['--embedded-control-plane=false'] });

  async function list(...argv: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await nodeward(['plugins', 'ls', '--root-dir', rootDir, ...argv]);
    assert.equal(code, 0, stderr);
    return stdout;
  }

  async function items(): Promise<Record<string, unknown>[]> {
    const { apiVersion, kind, items } = JSON.parse(await list('-o', 'json'));
    assert.deepEqual([apiVersion, kind], ['plugins.nodeward.io/v1', 'PluginSocketList']);
    return items;
  }

  const inState = (name: string, state: string) =>
    waitFor(`${name} to be ${state}`, async () => {
      const found = (await items()).find((item) => String(item['path']).endsWith(`/${name}`));
      return found?.['state'] === state && found;
    });

  test('lists no plugin at first', async () => {
    assert.deepEqual(await items(), []);
    assert.equal(await list(), '', 'that there is nothing is said on standard error');
  });

  test('refuses a plugin of a type that it does not know, tells it which there are, and shows that', async () => {
    await using plugin = await startRegistrar({ folder, prefix: 'net', type: 'NetworkPlugin' });
    const item = await inState('net-0.sock', 'failed');
    assert.match(
      String(item['lastError']),
      /^no handler registered for plugin type: NetworkPlugin at socket /,
    );
    assert.equal(item['type'], 'NetworkPlugin');
    assert.equal(typeof item['nextTry'], 'string');
    const told = await waitFor('it to be told', () => plugin.told().find(({ event }) => event === 'refused'));
    const supported = 'supported types: "CSIPlugin", "DRAPlugin", "DevicePlugin"';
    assert.ok(String(told['error']).endsWith(supported), String(told['error']));
    assert.match(
      await list(),
      /\nnet-0\.sock +NetworkPlugin +plugin\.example\.com +1\.0\.0 +\w+ +\d+s +\d+ +(in \d+s|-) +no handler registered/,
    );
  });

  test('registers a plugin, forgets one that has gone, and registers it again after a restart', async () => {
    const driver = { type: 'DRAPlugin', name: 'gpu.example.com', version: 'v1.DRAPlugin' };
    await using plugin = await startRegistrar({ folder, prefix: 'dra', ...driver });
    const item = await inState('dra-0.sock', 'registered');
    assert.deepEqual([item['name'], item['endpoint']], ['gpu.example.com', join(folder, 'dra-0.sock')]);
    assert.equal((await agent.interrupt()).code, 0);
    agent = await start();
    await inState('dra-0.sock', 'registered');
    await waitFor('it to be told', () => plugin.told().length === 2);
    await plugin.stop();
    await waitFor('it to be forgotten', async () => (await items()).length === 0);
  });

  test('is stopped in time while plugins hang', async () => {
    await using _hang = await startRegistrar({ folder, prefix: 'hang', count: 20, mode: 'hang' });
    await waitFor('them to be asked', async () => (await items()).length === 20);
    const { code, tookMs } = await agent.interrupt();
    assert.equal(code, 0);
    assert.ok(tookMs < 20_000, `the stop took ${tookMs} ms`);
    agent = await start();
  });
});

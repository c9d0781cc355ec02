/** Two agents, and an agent and a control plane, that are started with one root folder, or one runtime, by mistake. */
import assert from 'node:assert/strict';
import { lstat, readdir, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { exitCodes } from '../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { runDevicePlugin } from './example-plugins/run-device-plugin.ts';
import { startRegistrar } from './example-plugins/start-registrar.ts';
import { ensureBuilt } from './installation.ts';
import { nodeward, runAgentToItsEnd, startAgent } from './nodeward/index.ts';

before(ensureBuilt);

/** Inode of everything below a folder that is no file, and of the keys and kubeconfigs. */
async function inodesBelow(rootDir: string): Promise<Record<string, string>> {
  const names = await readdir(rootDir, { recursive: true });
  const kept = names.filter((name) => /\.(sock|kubeconfig|key|crt)$|sock/.test(name)).sort();
  const inodes = kept.map(async (name) => {
    const { ino, mtimeMs } = await lstat(join(rootDir, name));
    return [name, `${ino} ${mtimeMs}`] as const;
  });
  return Object.fromEntries(await Promise.all(inodes));
}

describe('one lock in the root folder, taken before anything else is opened', { timeout: 180_000 }, () => {
  test('a second agent with another lock file and other ports touches nothing of the first', async () => {
    await using home = await temporaryFolder('one-root-');
    const rootDir = join(home.path, 'root');
    await using first = await startAgent({ rootDir });
    const folder = join(rootDir, 'device-plugins');
    await using device = await runDevicePlugin({
      ...{ folder, resource: 'vendor.example/gpu', devices: [{ id: 'a', numaNodes: [] }] },
    });
    await device.saw('registered');
    await using driver = await startRegistrar({
      folder: join(rootDir, 'plugins_registry'),
      ...{ prefix: 'dra', type: 'DRAPlugin', name: 'gpu.example.com', version: 'v1.DRAPlugin' },
    });
    await waitFor('the driver to be registered', () => driver.told().length === 1);
    const inodes = await inodesBelow(rootDir);
    assert.ok('agent.sock' in inodes && 'device-plugins/nodeward.sock' in inodes, JSON.stringify(inodes));
    assert.ok('pod-resources/nodeward.sock' in inodes, JSON.stringify(inodes));

    const others = ['--container-runtime-endpoint', 'unix:///nowhere/x.sock'];
    const ends = await Promise.all(
      ['b', 'c'].map((name) =>
        runAgentToItsEnd({ rootDir, args: ['--lock-file', join(home.path, `${name}.lock`), ...others] }),
      ),
    );
    for (const { code, stderr } of ends) {
      assert.equal(code, exitCodes.locked, stderr);
      assert.match(stderr, new RegExp(`another agent uses the root folder .*process ${first.pid} `));
      assert.doesNotMatch(stderr, /sockets of earlier device plugins removed/);
    }
    assert.deepEqual(await inodesBelow(rootDir), inodes);
    assert.equal(device.events.filter(({ event }) => event === 'registered').length, 1);
    assert.equal(driver.told().length, 1, 'the driver was told nothing by the second agent');
    const reload = await nodeward(['reload', '--root-dir', rootDir]);
    assert.equal(reload.code, 0, reload.stderr);
    assert.equal((await first.interrupt()).code, 0);
  });

  test('two started at once: one runs, the other ends with code 4', async () => {
    await using home = await temporaryFolder('one-root-');
    const rootDir = join(home.path, 'root');
    const args = (name: string) => ['--lock-file', join(home.path, name), '--embedded-control-plane=false'];
    const starts = await Promise.allSettled(
      ['a.lock', 'b.lock'].map((name) => startAgent({ rootDir, args: args(name) })),
    );
    const running = starts.filter((start) => start.status === 'fulfilled').map(({ value }) => value);
    assert.equal(running.length, 1, JSON.stringify(starts.map(({ status }) => status)));
    for (const agent of running) {
      const again = await runAgentToItsEnd({ rootDir, args: args('c.lock') });
      assert.equal(again.code, exitCodes.locked, again.stderr);
      await agent[Symbol.asyncDispose]();
    }
  });

  test('the next agent takes over what a killed one leaves, under another lock file too', async () => {
    await using home = await temporaryFolder('one-root-');
    const rootDir = join(home.path, 'root');
    const args = (name: string) => ['--lock-file', join(home.path, name), '--embedded-control-plane=false'];
    const first = await startAgent({ rootDir, args: args('a.lock') });
    await first.process.kill9();
    await using second = await startAgent({ rootDir, args: args('b.lock') });
    assert.match(second.process.stderr, /taking over the lock .*root\/agent\.lock/);
    assert.equal((await second.interrupt()).code, 0);
  });

  test('another folder does not help an agent whose runtime another one uses; that one comes back after a kill', async () => {
    await using home = await temporaryFolder('one-runtime-');
    const socket = join(home.path, 'runtime.sock');
    await using _runtime = createServer((connection) => connection.destroy()).listen(socket);
    const link = join(home.path, 'link.sock');
    await symlink(socket, link);
    const start = (name: string, path: string) => ({
      rootDir: join(home.path, name),
      args: [
        ...['--lock-file', join(home.path, `${name}.lock`), '--embedded-control-plane=false'],
        ...['--container-runtime-endpoint', `unix://${path}`],
      ],
    });
    const first = await startAgent(start('one', socket));
    const refused = await runAgentToItsEnd(start('two', link));
    assert.equal(refused.code, exitCodes.locked, refused.stderr);
    assert.match(
      refused.stderr,
      new RegExp(`uses the container runtime .*process ${first.pid} .*/one, since`),
    );
    await first.process.kill9();
    const [back, other] = await Promise.all([
      startAgent(start('one', socket)),
      runAgentToItsEnd(start('two', link)),
    ]);
    await using _back = back;
    assert.equal(other.code, exitCodes.locked, other.stderr);
    // the one that comes back may have been quicker
    assert.match(
      other.stderr,
      /until just now; it has \d s to come back|uses the container runtime .*\/one, since/,
    );
  });

  test('a control plane started on it is refused by the store’s lock before it touches a key', async () => {
    await using home = await temporaryFolder('one-root-');
    const rootDir = join(home.path, 'root');
    await using first = await startAgent({ rootDir });
    const inodes = await inodesBelow(rootDir);
    const refused = await nodeward([
      ...['apiserver', '--root-dir', rootDir, '--secure-port', '0', '--bind-address', '127.0.0.2'],
    ]);
    assert.equal(refused.code, exitCodes.locked, refused.stderr);
    assert.deepEqual(await inodesBelow(rootDir), inodes);
    assert.equal(first.process.exit, undefined);
  });
});

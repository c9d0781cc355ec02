/** The registry of plugins over real sockets: plugins as processes of their own that behave well and badly. */
import assert from 'node:assert/strict';
import { mkdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runSuccessfully, temporaryFolder, waitFor } from '../support/index.ts';
import { startRegistrar } from './example-plugins/start-registrar.ts';
import { startNode } from './plugins/registering-node.ts';

const root = process.getuid?.() === 0 ? false : 'mounting needs root';

describe('the folder', () => {
  test('is made at the start, for root and its group only', async () => {
    await using home = await temporaryFolder();
    await using node = await startNode({ rootDir: home.path });
    const { mode } = await stat(node.folder);
    assert.equal(mode & 0o777, 0o700);
    assert.deepEqual(node.plugins.problems(), []);
  });

  test('is made again when somebody removes it, and what was in it is deregistered', async () => {
    await using home = await temporaryFolder();
    await using node = await startNode({ rootDir: home.path });
    const { folder } = node;
    await using _plugin = await startRegistrar({ folder, prefix: 'a' });
    await node.state(join(folder, 'a-0.sock'), 'registered');
    await rm(folder, { recursive: true });
    await waitFor('the plugin to be deregistered', () => node.plugins.sockets().length === 0);
    await waitFor('the folder to be made again', () => stat(folder));
    await using successor = await startRegistrar({ folder, prefix: 'b' });
    await node.state(join(folder, 'b-0.sock'), 'registered');
    await waitFor('it to be told', () => successor.told().length === 1);
  });

  test('may hold other things: only sockets count, in subfolders too, without a dot in front', async () => {
    await using home = await temporaryFolder();
    await using node = await startNode({ rootDir: home.path });
    const { folder } = node;
    for (const name of ['sub/folder', '.hidden']) await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, 'file.sock'), 'I am no socket');
    await runSuccessfully('mkfifo', [join(folder, 'fifo.sock')]);
    await symlink(join(folder, 'nowhere'), join(folder, 'broken.sock'));
    await using _hidden = await startRegistrar({ folder: join(folder, '.hidden'), prefix: 'x' });
    await using _dotted = await startRegistrar({ folder, prefix: '.y' });
    await using _elsewhere = await startRegistrar({ folder: home.path, prefix: 'z' });
    await symlink(join(home.path, 'z-0.sock'), join(folder, 'link.sock'));
    await using _below = await startRegistrar({ folder: join(folder, 'sub/folder'), prefix: 'w' });
    await node.state(join(folder, 'sub/folder/w-0.sock'), 'registered');
    await node.state(join(folder, 'link.sock'), 'registered');
    assert.equal(node.plugins.sockets().length, 2);
  });
});

describe('a plugin', () => {
  test('that was there before the agent is registered, and again after the agent has started anew', async () => {
    await using home = await temporaryFolder();
    const folder = join(home.path, 'plugins_registry');
    await mkdir(folder);
    await using plugin = await startRegistrar({ folder, prefix: 'a' });
    for (const times of [1, 2, 3]) {
      await using node = await startNode({ rootDir: home.path });
      await node.state(join(folder, 'a-0.sock'), 'registered');
      await waitFor('the plugin to be told', () => plugin.told().length === times);
      await node.stop();
      assert.deepEqual(node.calls, ['register plugin.example.com'], 'a stop deregisters nothing');
    }
  });

  test('that removes its socket is deregistered', async () => {
    await using home = await temporaryFolder();
    await using node = await startNode({ rootDir: home.path });
    const { folder, calls } = node;
    await using plugin = await startRegistrar({ folder, prefix: 'a' });
    await node.state(join(folder, 'a-0.sock'), 'registered');
    await plugin.stop();
    await waitFor('the plugin to be deregistered', () => calls.length === 2);
    assert.deepEqual(calls, ['register plugin.example.com', 'deregister plugin.example.com']);
    assert.deepEqual(node.plugins.sockets(), []);
  });

  test('that is killed stays registered, and its successor at the same path registers anew', async () => {
    await using home = await temporaryFolder();
    await using node = await startNode({ rootDir: home.path });
    const { folder, calls } = node;
    const path = join(folder, 'a-0.sock');
    const first = await startRegistrar({ folder, prefix: 'a', name: 'first' });
    await node.state(path, 'registered');
    await first.kill9();
    assert.equal(node.of(path)?.state, 'registered');
    await using _second = await startRegistrar({ folder, prefix: 'a', name: 'second' });
    await waitFor('the second one to be registered', () => node.registered.get(path)?.name === 'second');
    assert.deepEqual(calls, ['register first', 'deregister first', 'register second']);
  });

  test('that takes the place of another by a rename registers anew', async () => {
    await using home = await temporaryFolder();
    await using node = await startNode({ rootDir: home.path });
    const { folder } = node;
    await using _old = await startRegistrar({ folder, prefix: 'a', name: 'old' });
    await node.state(join(folder, 'a-0.sock'), 'registered');
    await using _new = await startRegistrar({ folder: home.path, prefix: 'b', name: 'new' });
    await rename(join(home.path, 'b-0.sock'), join(folder, 'a-0.sock'));
    await waitFor('the new one', () => node.registered.get(join(folder, 'a-0.sock'))?.name === 'new');
    assert.deepEqual(node.calls, ['register old', 'deregister old', 'register new']);
  });

  test('that is refused because of another of its name is taken as soon as that one leaves', async () => {
    await using home = await temporaryFolder();
    await using node = await startNode({ rootDir: home.path, oneOfAName: true });
    const { folder } = node;
    await using older = await startRegistrar({ folder, prefix: 'older' });
    await node.state(join(folder, 'older-0.sock'), 'registered');
    await using newer = await startRegistrar({ folder, prefix: 'newer' });
    const refused = await node.state(join(folder, 'newer-0.sock'), 'failed');
    assert.match(
      refused.lastError ?? '',
      /validation failed with err: plugin\.example\.com is registered already/,
    );
    await waitFor('it to be told', () => newer.told().some(({ event }) => event === 'refused'));
    await older.stop();
    await node.state(join(folder, 'newer-0.sock'), 'registered');
    await waitFor('it to be told', () => newer.told().at(-1)?.event === 'registered');
  });

  test('whose path is too long to be connected to is told so, and left alone', async () => {
    await using home = await temporaryFolder();
    await using node = await startNode({ rootDir: home.path });
    const deep = join(node.folder, 'a'.repeat(60), 'b'.repeat(30));
    await mkdir(deep, { recursive: true });
    await using _plugin = await startRegistrar({ folder: '.', cwd: deep, prefix: 'far-away', mode: 'mute' });
    const { lastError, nextTryMs } = await node.state(join(deep, 'far-away-0.sock'), 'failed');
    assert.match(lastError ?? '', /a socket's path has at most 107 bytes, this one has \d+/);
    assert.equal(nextTryMs, undefined);
  });
});

describe('plugins that behave badly', () => {
  const faults = {
    hang: /GetInfo: no answer within 1 s/,
    mute: /GetInfo: no answer within 1 s/,
    garbage: /GetInfo: /,
    noise: /GetInfo: /,
    huge: /GetInfo: .*(larger than max|Received message)/i,
    crash: /GetInfo: nobody serves the socket; start the plugin, or remove its socket/,
  } as const;

  for (const [mode, words] of Object.entries(faults) as [keyof typeof faults, RegExp][])
    test(`by mode ${mode} fail with words, and harm no other`, async () => {
      await using home = await temporaryFolder();
      await using node = await startNode({ rootDir: home.path });
      const { folder } = node;
      await using _bad = await startRegistrar({ folder, prefix: 'bad', count: 3, mode });
      await using _good = await startRegistrar({ folder, prefix: 'good' });
      await node.state(join(folder, 'good-0.sock'), 'registered');
      for (const index of [0, 1, 2]) {
        const path = join(folder, `bad-${index}.sock`);
        const isTold = async () => words.test((await node.state(path, 'failed')).lastError ?? ''); // one that crashes, at its second try
        await waitFor(`${path} to fail with ${words}`, isTold);
        assert.ok((await node.state(path, 'failed')).nextTryMs !== undefined);
      }
    });

  test('that cannot hear stay registered', async () => {
    await using home = await temporaryFolder();
    await using node = await startNode({ rootDir: home.path });
    const path = join(node.folder, 'a-0.sock');
    await using _deaf = await startRegistrar({ folder: node.folder, prefix: 'a', mode: 'deaf' });
    await waitFor('its deafness to be noticed', () =>
      node.of(path)?.lastError?.includes('could not be notified of its registration'),
    );
    assert.equal(node.of(path)?.state, 'registered');
    assert.equal(node.calls.length, 1);
  });

  test('by making their sockets anew every 10 ms hold up no other, and are taken once they are quiet', async () => {
    await using home = await temporaryFolder();
    await using node = await startNode({ rootDir: home.path });
    const { folder } = node;
    await using flapping = await startRegistrar({ folder, prefix: 'flapping', count: 3, mode: 'flapping' });
    await using good = await startRegistrar({ folder, prefix: 'good', count: 10, name: 'good' });
    await waitFor('the good ones to be registered', () => good.told().length === 10);
    flapping.signal('SIGUSR2');
    for (const index of [0, 1, 2]) {
      const path = join(folder, `flapping-${index}.sock`);
      await waitFor('the last one made to be registered', async () => {
        const { mtimeMs } = await stat(path);
        return node.registered.get(path)?.madeMs === Math.floor(mtimeMs);
      });
    }
    assert.deepEqual(
      node.plugins.sockets().map(({ state }) => state),
      Array.from({ length: 13 }, () => 'registered'),
    );
  });

  test('do not hold up the stop, nor does a handler that never comes to an end', async () => {
    await using home = await temporaryFolder();
    await using node = await startNode({ rootDir: home.path, endless: true });
    const { folder } = node;
    await using _hang = await startRegistrar({ folder, prefix: 'hang', count: 20, mode: 'hang' });
    await using _good = await startRegistrar({ folder, prefix: 'good' });
    await node.state(join(folder, 'good-0.sock'), 'registering');
    await node.stop(); // the test's own limit is what would tell that it does not end
  });
});

test('two hundred sockets, some of which hang, are all registered, whether they race with the start or not', async () => {
  await using home = await temporaryFolder();
  const folder = join(home.path, 'plugins_registry');
  await mkdir(folder);
  await using _hang = await startRegistrar({ folder, prefix: 'hang', count: 30, mode: 'hang' });
  const many = (prefix: string) => startRegistrar({ folder, prefix, name: prefix, count: 50 });
  await using first = await many('a');
  const racing = [many('b'), many('c'), many('d')];
  await using node = await startNode({ rootDir: home.path });
  await using stack = new AsyncDisposableStack();
  const all = [first, ...(await Promise.all(racing)).map((each) => stack.use(each))];
  await waitFor('all to be told', () => all.every((each) => each.told().length === 50), {
    timeoutMs: 60_000,
  });
  assert.equal(node.registered.size, 200);
  assert.equal(node.calls.length, 200, 'each once');
  const registered = node.plugins.sockets().filter(({ state }) => state === 'registered');
  assert.deepEqual(
    registered.map(({ path }) => path),
    [...node.registered.keys()].sort(),
  );
});

describe('a file system', { skip: root }, () => {
  async function mounted(path: string, options: string): Promise<AsyncDisposable> {
    await runSuccessfully('mount', ['-t', 'tmpfs', '-o', `mode=0700,${options}`, 'plugins', path]);
    return { [Symbol.asyncDispose]: async () => void (await runSuccessfully('umount', ['--lazy', path])) };
  }

  test('that is full says why there is no folder, and plugins register when there is room again', async () => {
    await using home = await temporaryFolder();
    await using _mount = await mounted(home.path, 'size=1m,nr_inodes=3');
    for (const name of ['one', 'two']) await writeFile(join(home.path, name), '');
    await using node = await startNode({ rootDir: home.path });
    assert.match(node.plugins.problems().join('\n'), /cannot be made, so no plugin registers: .*ENOSPC/);
    await runSuccessfully('mount', ['-o', 'remount,nr_inodes=100', home.path]);
    await waitFor('the folder', () => stat(node.folder), { timeoutMs: 20_000 });
    await using _plugin = await startRegistrar({ folder: node.folder, prefix: 'a' });
    await node.state(join(node.folder, 'a-0.sock'), 'registered');
    assert.deepEqual(node.plugins.problems(), []);
  });

  test('that becomes read-only hinders no plugin that is there', async () => {
    await using home = await temporaryFolder();
    await using _mount = await mounted(home.path, 'size=1m');
    const folder = join(home.path, 'plugins_registry');
    await mkdir(folder);
    await using plugin = await startRegistrar({ folder, prefix: 'a' });
    await runSuccessfully('mount', ['-o', 'remount,ro', home.path]);
    await using node = await startNode({ rootDir: home.path });
    await node.state(join(folder, 'a-0.sock'), 'registered');
    await waitFor('it to be told', () => plugin.told().length === 1);
    assert.deepEqual(node.plugins.problems(), []);
  });
});

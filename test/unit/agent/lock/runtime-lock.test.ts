import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import type { RuntimeLockOptions } from '../../../../src/agent/lock/index.ts';
import { RuntimeLock } from '../../../../src/agent/lock/index.ts';
import { ExitError, exitCodes, systemClock } from '../../../../src/base/index.ts';
import { runSuccessfully, temporaryFolder, unmountBelow, waitFor } from '../../../support/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';

const isRoot = process.geteuid?.() === 0;
const program = join(import.meta.dirname, 'runtime-contender.ts');

/** A folder with the socket of a runtime in it, and agents that want it. */
async function place() {
  const home = await temporaryFolder('runtime-lock-');
  const folder = join(home.path, 'run');
  await mkdir(folder, { mode: 0o711 });
  const socket = join(folder, 'containerd.sock');
  const stack = new AsyncDisposableStack();
  stack.defer(() => home[Symbol.asyncDispose]());
  if (isRoot) stack.defer(() => void unmountBelow(home.path));
  stack.use(await listen(socket));
  const { log, text } = recordedLog();
  return {
    ...{ home: home.path, folder, socket, text, stack },
    agent: (rootDir: string, extra: Partial<RuntimeLockOptions> = {}) =>
      stack.use(
        new RuntimeLock({
          ...{
            rootDir,
            clock: systemClock,
            log,
            staleMs: 5000,
            otherDir: join(home.path, 'other'),
            ...extra,
          },
        }),
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function listen(socket: string): Promise<AsyncDisposable> {
  const server = createServer().listen(socket);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function refusalOf(claiming: Promise<void>): Promise<ExitError> {
  const error: unknown = await claiming.then(
    () => assert.fail('it was claimed'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof ExitError, String(error));
  return error;
}

/** An agent in a process of its own, and its first words. */
async function otherProcess(socket: string, rootDir: string, before: readonly string[] = []) {
  const [command = '', ...argv] = [...before, process.execPath, program, socket, rootDir];
  const child = spawn(command, argv, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  return {
    pid: child.pid,
    said: String(value),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await exited;
    },
  };
}

describe('two agents and one runtime', () => {
  test('the second is refused, and told who has it and what to do', async () => {
    await using at = await place();
    await at.agent('/roots/one').claim(at.socket);
    const second = at.agent('/roots/two');
    const refused = await refusalOf(second.claim(at.socket));
    assert.equal(refused.exitCode, exitCodes.locked);
    const who = `another agent uses the container runtime at ${at.socket}: process ${process.pid} `;
    assert.ok(refused.message.startsWith(who), refused.message);
    assert.match(refused.message, / with the root folder \/roots\/one, since .*"kill \d+"/);
    assert.match(refused.message, /a runtime of its own with --container-runtime-endpoint$/);
    assert.equal(second.lost.reason, refused, 'one that runs already has to stop');
  });

  test('by whatever path the socket is reached', { skip: !isRoot }, async () => {
    await using at = await place();
    await at.agent('/roots/one').claim(at.socket);
    const paths: Record<string, string> = {};
    for (const name of ['link', 'folder-link', 'bound-folder', 'bound-file'])
      paths[name] = join(at.home, name);
    const [link = '', folderLink = '', boundFolder = '', boundFile = ''] = Object.values(paths);
    await symlink(at.socket, link);
    await symlink(at.folder, folderLink);
    await mkdir(boundFolder);
    await writeFile(boundFile, '');
    await runSuccessfully('mount', ['--bind', at.folder, boundFolder]);
    await runSuccessfully('mount', ['--bind', at.socket, boundFile]);
    const sockets = [
      link,
      join(folderLink, 'containerd.sock'),
      join(boundFolder, 'containerd.sock'),
      boundFile,
    ];
    for (const socket of sockets) {
      const { exitCode, message } = await refusalOf(at.agent('/roots/two').claim(socket));
      assert.equal(exitCode, exitCodes.locked, `${socket}: ${message}`);
    }
  });

  test('in another mount namespace too', { skip: !isRoot }, async () => {
    await using at = await place();
    await at.agent('/roots/one').claim(at.socket);
    await using other = await otherProcess(at.socket, '/roots/two', ['unshare', '--mount']);
    assert.match(other.said, /^another agent uses the container runtime .* root folder \/roots\/one/);
  });

  test('when the socket comes later, and when the runtime made it again', async () => {
    await using at = await place();
    const socket = join(at.folder, 'later.sock');
    const [one, two] = [at.agent('/roots/one'), at.agent('/roots/two')];
    await one.claim(socket);
    await two.claim(socket); // nothing is there
    {
      await using _runtime = await listen(socket);
      await one.claim(socket);
    }
    await rm(socket, { force: true });
    await using _again = await listen(socket);
    assert.equal((await refusalOf(two.claim(socket))).exitCode, exitCodes.locked);
  });

  test('a lock that was removed is taken again, and lost only where another agent was quicker', async () => {
    await using at = await place();
    const first = at.agent('/roots/one');
    await first.claim(at.socket);
    const folder = join(at.folder, 'nodeward-containerd.sock');
    await rename(folder, `${folder}.removed`);
    const file = join(folder, 'agent.lock');
    await waitFor('the lock', async () => (await readFile(file, 'utf8').catch(() => '')) !== '', {
      timeoutMs: 20_000,
    });
    assert.equal((await refusalOf(at.agent('/roots/two').claim(at.socket))).exitCode, exitCodes.locked);
    assert.equal(first.lost.aborted, false);
    const elsewhere = join(at.folder, 'crio.sock');
    at.stack.use(await listen(elsewhere));
    await using _other = await otherProcess(elsewhere, '/roots/three');
    const lost = once(first.lost, 'abort', { signal: AbortSignal.timeout(20_000) });
    await copyFile(join(at.folder, 'nodeward-crio.sock/agent.lock'), file); // it says now that the other one has it
    await lost;
    assert.match(String(first.lost.reason), /another agent uses .* root folder \/roots\/three/);
  });

  test('runtimes in one folder are two runtimes', async () => {
    await using at = await place();
    const socket = join(at.folder, 'crio.sock');
    at.stack.use(await listen(socket));
    await at.agent('/roots/one').claim(at.socket);
    await at.agent('/roots/two').claim(socket);
  });
});

describe('the agent that had a runtime comes back', () => {
  test('after a kill its lock blocks neither it nor, once the time is over, another', async () => {
    await using at = await place();
    const killed = await otherProcess(at.socket, '/roots/one');
    assert.equal(killed.said, 'held');
    await killed.kill();
    const back = at.agent('/roots/one', { returnMs: 3600_000 });
    await back.claim(at.socket);
    await back.close();
    const again = await otherProcess(at.socket, '/roots/one');
    await again.kill();
    await at.agent('/roots/two', { returnMs: 500 }).claim(at.socket);
    assert.match(at.text(), /taking over the lock/);
  });

  test('before another that begins in the meantime', async () => {
    await using at = await place();
    const first = at.agent('/roots/one');
    await first.claim(at.socket);
    await first.close(); // it is upgraded
    const other = at.agent('/roots/two', { returnMs: 2000 }).claim(at.socket);
    const next = at.agent('/roots/one');
    await next.claim(at.socket);
    assert.match((await refusalOf(other)).message, /root folder \/roots\/one/);
    assert.match(at.text(), /used this runtime until just now; it has 2 s to come back/);
  });

  test('one that ended long ago is not waited for', async () => {
    await using at = await place();
    const hour = 3600_000;
    const first = at.agent('/roots/one', { clock: { ...systemClock, now: () => Date.now() - hour } });
    await first.claim(at.socket);
    await first.close();
    await at.agent('/roots/two', { returnMs: hour / 2 }).claim(at.socket);
    assert.doesNotMatch(at.text(), /to come back/);
  });
});

describe('a folder that is not for locks', () => {
  test('where it is read-only, the lock is in another place', { skip: !isRoot }, async () => {
    await using at = await place();
    await runSuccessfully('mount', ['--bind', at.folder, at.folder]);
    await runSuccessfully('mount', ['-o', 'remount,ro,bind', at.folder]);
    await at.agent('/roots/one').claim(at.socket);
    assert.equal((await refusalOf(at.agent('/roots/two').claim(at.socket))).exitCode, exitCodes.locked);
    assert.match(
      at.text(),
      /the lock of the runtime cannot be beside its socket: .*read-only.*another place is used/,
    );
    assert.equal((await readdir(join(at.home, 'other'))).length, 1);
  });

  test('where it became read-only for one of them, that one finds the lock of the other', {
    skip: !isRoot,
  }, async () => {
    await using at = await place();
    await at.agent('/roots/one').claim(at.socket);
    const readOnly = join(at.home, 'read-only');
    await mkdir(readOnly);
    await runSuccessfully('mount', ['--bind', at.folder, readOnly]);
    await runSuccessfully('mount', ['-o', 'remount,ro,bind', readOnly]);
    const refused = await refusalOf(at.agent('/roots/two').claim(join(readOnly, 'containerd.sock')));
    assert.match(refused.message, /root folder \/roots\/one/);
  });

  test('what another user has put there is not used', { skip: !isRoot }, async () => {
    await using at = await place();
    const planted = join(at.folder, 'nodeward-containerd.sock');
    await mkdir(planted, { mode: 0o777 });
    await runSuccessfully('chown', ['12345', planted]);
    await at.agent('/roots/one').claim(at.socket);
    assert.deepEqual(await readdir(planted), []);
    assert.match(at.text(), /belongs to user 12345/);
  });

  test('nothing can be locked: the agent does not start', { skip: !isRoot }, async () => {
    await using at = await place();
    await runSuccessfully('mount', ['--bind', at.home, at.home]);
    await runSuccessfully('mount', ['-o', 'remount,ro,bind', at.home]);
    try {
      const refused = await refusalOf(at.agent('/roots/one').claim(at.socket));
      assert.equal(refused.exitCode, exitCodes.unwritable);
    } finally {
      await runSuccessfully('umount', [at.home]);
    }
  });

  test('a socket that the user of the agent may not connect to is no runtime of it', {
    skip: !isRoot,
  }, async () => {
    await using at = await place();
    await chmod(at.home, 0o711);
    const user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'];
    await using other = await otherProcess(at.socket, '/roots/one', user);
    assert.equal(other.said, 'held');
    assert.deepEqual(await readdir(at.folder), ['containerd.sock']);
  });
});

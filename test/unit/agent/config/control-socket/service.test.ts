import assert from 'node:assert/strict';
import { once } from 'node:events';
import { lstat, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { controlSocketPath, requestReload } from '../../../../../src/agent/config/control-socket/index.ts';
import type { Reloaded } from '../../../../../src/agent/config/index.ts';
import { ExitError, exitCodes } from '../../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { startSocket } from './socket-bench.ts';

const done: Reloaded = { applied: ['maxPods'], pending: ['port'], warnings: ['mind the gap'] };

const ask = (rootDir: string, timeoutMs = 10_000) =>
  requestReload({ rootDir, timeoutMs, signal: new AbortController().signal });

async function failure(asking: Promise<unknown>): Promise<ExitError> {
  const error: unknown = await asking.then(
    () => assert.fail('it was answered'),
    (thrown) => thrown,
  );
  assert.ok(error instanceof ExitError, String(error));
  return error;
}

describe('the control socket', () => {
  test('answers when the reload is done, and only its owner may open it', async () => {
    await using folder = await temporaryFolder();
    await using _socket = await startSocket(folder.path, { reload: async () => done });
    assert.deepEqual(await ask(folder.path), { ok: true, ...done });
    assert.equal((await lstat(controlSocketPath(folder.path))).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(folder.path), ['agent.sock'], 'nothing else is left there');
  });

  test('tells why not, and whether it is the configuration', async () => {
    await using folder = await temporaryFolder();
    let error = new ExitError(
      exitCodes.configuration,
      'c.yaml:3:7: port: no\nc.yaml:4:1: adress: unknown field',
    );
    await using _socket = await startSocket(folder.path, { reload: () => Promise.reject(error) });
    const wrong = await failure(ask(folder.path));
    assert.equal(wrong.exitCode, exitCodes.configuration);
    assert.match(
      wrong.message,
      /keeps the configuration that it has:\nc\.yaml:3:7: port: no\nc\.yaml:4:1: adress/,
    );
    error = new ExitError(exitCodes.failed, 'no luck');
    assert.equal((await failure(ask(folder.path))).exitCode, exitCodes.failed);
  });

  test('without an agent, or with one that hangs or goes, the command ends and says so', async () => {
    await using folder = await temporaryFolder();
    assert.match((await failure(ask(folder.path))).message, /no agent listens on .*agent\.sock.*--root-dir/);
    const hung = Promise.withResolvers<Reloaded>();
    const socket = await startSocket(folder.path, { reload: () => hung.promise });
    assert.match((await failure(ask(folder.path, 200))).message, /not answered within 0\.2 s/);
    const waiting = failure(ask(folder.path));
    const other = createConnection(controlSocketPath(folder.path));
    await once(other, 'connect');
    await socket.end();
    assert.match((await waiting).message, /ended before it answered|cannot ask the agent|no agent listens/);
    other.destroy();
    assert.deepEqual(await readdir(folder.path), []);
  });

  test('a socket that somebody else removes or replaces is made again', async () => {
    await using folder = await temporaryFolder();
    await using socket = await startSocket(folder.path, { reload: async () => done, lookMs: 20 });
    const path = controlSocketPath(folder.path);
    const isAnswering = () =>
      ask(folder.path).then(
        () => true,
        () => false,
      );
    const replaced = () => socket.log().split('agent.sock was removed or replaced; created again').length - 1;
    await rm(path);
    await waitFor('a new one', () => replaced() === 1);
    await waitFor('its answer', isAnswering);
    // in one step: a socket that is removed is soon made again, and cannot be written to
    const inTheWay = join(folder.path, 'in-the-way');
    await writeFile(inTheWay, '');
    await rename(inTheWay, path);
    await waitFor('a new one', () => replaced() >= 2);
    await waitFor('its answer', isAnswering);
    assert.deepEqual(await readdir(folder.path), ['agent.sock']);
  });

  test('what a killed agent has left is replaced; what another agent has put there stays', async () => {
    await using folder = await temporaryFolder();
    const path = controlSocketPath(folder.path);
    await writeFile(path, 'not even a socket');
    const first = await startSocket(folder.path, { reload: async () => ({ ...done, applied: ['first'] }) });
    await using _second = await startSocket(folder.path, {
      reload: async () => ({ ...done, applied: ['second'] }),
    });
    await first.end();
    assert.deepEqual((await ask(folder.path)).applied, ['second']);
  });

  test('a root folder with a long path is served without a socket', async () => {
    await using folder = await temporaryFolder();
    const long = join(folder.path, 'x'.repeat(110));
    await mkdir(long);
    await using socket = await startSocket(long, { reload: async () => done });
    assert.match(socket.log(), /nodeward reload cannot be used, SIGHUP can: .*more than 107 bytes/);
    assert.deepEqual(await readdir(long), []);
  });

  test('requests are bounded, and nonsense is answered', async () => {
    await using folder = await temporaryFolder();
    let reloads = 0;
    const reload = async () => {
      reloads += 1;
      return done;
    };
    await using _socket = await startSocket(folder.path, { reload });
    const say = async (text: string) => {
      const socket = createConnection(controlSocketPath(folder.path)).setEncoding('utf8');
      socket.on('error', () => undefined).write(text);
      let heard = '';
      socket.on('data', (chunk) => {
        heard += String(chunk);
      });
      await once(socket, 'close');
      return heard;
    };
    for (const text of ['\n', '{}\n', 'reload\n', '{"command":"stop"}\n', '[1]\n', 'x'.repeat(5000)])
      assert.match(
        await say(text),
        /^\{"ok":false,"configuration":false,"message":"the agent knows no such request/,
      );
    assert.equal(reloads, 0);
    assert.match(await say('{"command":"reload"}\n{"command":"reload"}\n'), /^\{"ok":true.*\}\n$/);
    assert.equal(reloads, 1, 'one request, one reload');
  });
});

test('an answer that is none is told as such', async () => {
  await using folder = await temporaryFolder();
  const server = createServer((socket) => socket.end('{"ok":true,"applied":5}\n')).listen(
    controlSocketPath(folder.path),
  );
  await once(server, 'listening');
  try {
    assert.match((await failure(ask(folder.path))).message, /ended before it answered/);
  } finally {
    server.close();
  }
});

import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ControlPlaneOptions } from '../../../../../src/agent/identity/control-plane/index.ts';
import { ControlPlaneService } from '../../../../../src/agent/identity/control-plane/index.ts';
import { ExitError, exitCodes, systemClock } from '../../../../../src/base/index.ts';
import {
  findProcess,
  isAlive,
  sendSignal,
  startProcess,
  temporaryFolder,
  waitFor,
} from '../../../../support/index.ts';
import type { ManualClock } from '../../../../support/manual-clock.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { recordedLog } from '../../../base/recorded-log.ts';

const standIn = join(import.meta.dirname, 'stand-in.ts');
const parent = join(import.meta.dirname, 'parent.ts');
const request = { csrPem: 'csr', usage: 'client' as const, addresses: [] };

/** A folder for an agent, with the journal of its children in it. */
async function agentFolder() {
  const folder = await temporaryFolder('control-plane-');
  const journal = join(folder.path, 'journal');
  const events = async (event: string): Promise<number[]> => {
    const lines = (await readFile(journal, 'utf8').catch(() => '')).split('\n');
    return lines.filter((line) => line.startsWith(`${event} `)).map((line) => Number(line.split(' ')[1]));
  };
  return {
    path: folder.path,
    note: join(folder.path, 'control-plane.json'),
    journal,
    events,
    /** Waits until `count` children have got so far; their process ids. */
    until: (event: string, count = 1) =>
      waitFor(`${count} × ${event}`, async () => {
        const pids = await events(event);
        return pids.length >= count && pids;
      }),
    async [Symbol.asyncDispose]() {
      for (const pid of await events('started')) {
        if ((await findProcess(pid))?.argv.includes(journal)) sendSignal(pid, 'SIGKILL');
      }
      await folder[Symbol.asyncDispose]();
    },
  };
}

type Folder = Awaited<ReturnType<typeof agentFolder>>;

/** Runs the service until disposed of. */
function run(
  folder: Folder,
  behaviour: string,
  options: Partial<ControlPlaneOptions> = {},
  manual?: ManualClock,
) {
  const stop = new AbortController();
  const { log, text } = recordedLog();
  const service = new ControlPlaneService({
    script: standIn,
    args: [behaviour, folder.journal],
    rootDir: folder.path,
    clock: manual ?? systemClock,
    log,
    ...options,
  });
  const ready = Promise.withResolvers<void>();
  const ended = service.run(stop.signal, () => ready.resolve());
  ended.catch(() => undefined); // a test looks at it when it is time
  const end = async () => {
    stop.abort();
    await manual?.advance(10_000); // a child that hangs is killed only when it has been waited for
    await ended.catch(() => undefined);
  };
  return { service, ready: ready.promise, ended, log: text, end, [Symbol.asyncDispose]: end };
}

const gone = (pid: number) => waitFor(`the end of process ${pid}`, async () => !(await isAlive(pid)));
const first = (pids: readonly number[]): number => pids[0] ?? 0;

describe('a control plane that is well', () => {
  test('is ready once it serves, tells where, and stops when told to', async () => {
    await using folder = await agentFolder();
    await using running = run(folder, '--well');
    await running.ready;
    assert.equal((await running.service.connection.get()).url, 'https://127.0.0.1:6443');
    const pid = first(await folder.until('started'));
    assert.equal(JSON.parse(await readFile(folder.note, 'utf8')).pid, pid);
    await running.end();
    assert.equal(await isAlive(pid), false);
    assert.deepEqual([await folder.events('stop'), await folder.events('left')], [[pid], [pid]]);
    await assert.rejects(access(folder.note), { code: 'ENOENT' });
    await running.end();
  });

  test('signs, refuses, and is not waited for without end', async () => {
    await using folder = await agentFolder();
    await using running = run(folder, '--well', { signMs: 2000 });
    await running.ready;
    const { service } = running;
    const [one, two] = await Promise.all([
      service.sign({ ...request, node: 'node-a' }),
      service.sign({ ...request, node: 'node-b' }),
    ]);
    assert.match(one, /node-a client$/);
    assert.match(two, /node-b client$/);
    await assert.rejects(service.sign({ ...request, node: 'nobody' }), { message: 'nobody is no node' });
    await assert.rejects(service.sign({ ...request, node: 'slow' }), /has not answered .* within 2 s/);
    await assert.rejects(
      service.sign({ ...request, node: 'fatal' }),
      /the control plane ended: it was ended by SIGKILL/,
    );
    await running.end();
    await assert.rejects(service.sign({ ...request, node: 'node-a' }), /is not running/);
  });

  test('does not hear Ctrl-C, and what it writes goes to standard error', async () => {
    await using folder = await agentFolder();
    const program = [parent, standIn, folder.path, '--log', folder.journal];
    await using agent = await startProcess(process.execPath, program);
    await agent.waitForOutput(/ready/);
    const pid = first(await folder.until('started'));
    sendSignal(pid, 'SIGINT');
    await folder.until('interrupted');
    assert.equal(await isAlive(pid), true);
    await agent.waitForOutput(/from the child/);
    assert.match(agent.stderr, /^\{"level":"info","msg":"from the child"\}$/m);
    assert.doesNotMatch(agent.stdout, /from the child/);
  });
});

describe('a control plane that dies', () => {
  test('by kill -9 is brought back, and serves again', async () => {
    await using folder = await agentFolder();
    await using running = run(folder, '--well');
    await running.ready;
    const again = Promise.withResolvers<void>();
    using _follow = running.service.connection.onChange(() => again.resolve());
    sendSignal(first(await folder.until('started')), 'SIGKILL');
    await again.promise;
    const [before, after] = await folder.until('started', 2);
    assert.notEqual(before, after);
    assert.match(running.log(), /starting it again: it was ended by SIGKILL/);
    assert.match(running.log(), /the control plane serves again/);
    assert.equal(JSON.parse(await readFile(folder.note, 'utf8')).pid, after);
  });

  test('at every start is tried again for as long as the agent runs', async () => {
    await using folder = await agentFolder();
    await using running = run(folder, '--crash');
    await folder.until('started', 3);
    await running.end();
    await running.ended;
    assert.match(running.log(), /it ended with exit code 1/);
  });

  test('by an operator’s mistake at the first start ends the agent with its message', async () => {
    await using folder = await agentFolder();
    await using running = run(folder, '--mistake');
    const error = await running.ended.then(
      () => assert.fail('it runs'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof ExitError);
    assert.equal(error.exitCode, exitCodes.address);
    assert.equal(
      error.message,
      'the control plane cannot start: cannot listen on 127.0.0.1:6443: the port is taken',
    );
    assert.equal((await folder.events('started')).length, 1);
  });

  test('by an operator’s mistake later is brought back like any other', async () => {
    await using folder = await agentFolder();
    await using running = run(folder, '--later-mistake');
    await running.ready;
    sendSignal(first(await folder.until('started')), 'SIGKILL');
    await waitFor('it to serve again', () => running.log().includes('serves again'));
    assert.match(running.log(), /starting it again: cannot listen on 127.0.0.1:6443: the port is taken/);
    assert.equal((await folder.events('started')).length, 3);
  });

  test('by a mistake that it could not tell is known by its exit code', async () => {
    await using folder = await agentFolder();
    await using running = run(folder, '--silent-mistake');
    await assert.rejects(running.ended, (error) => error instanceof ExitError && error.exitCode === 2);
  });
});

describe('a control plane that hangs', () => {
  const ways: Readonly<
    Record<string, (pid: number, service: ControlPlaneService, folder: Folder) => unknown>
  > = {
    'stopped by SIGSTOP': (pid) => sendSignal(pid, 'SIGSTOP'),
    'in its event loop': (_pid, service, folder) => {
      service.sign({ ...request, node: 'endless' }).catch(() => undefined);
      return folder.until('endless');
    },
  };
  for (const [how, hang] of Object.entries(ways)) {
    test(`${how} is killed after 30 s of silence and brought back`, async () => {
      await using folder = await agentFolder();
      const clock = createManualClock();
      await using running = run(folder, '--well', {}, clock);
      await running.ready;
      const pid = first(await folder.until('started'));
      await running.service.sign({ ...request, node: 'node-a' }); // the first ping is answered before
      await hang(pid, running.service, folder);
      await clock.advance(29_000);
      assert.equal(await isAlive(pid), true);
      await clock.advance(1000);
      await gone(pid);
      await waitFor('its end to be seen', () => running.log().includes('silent for 30 s and was killed'));
      await clock.advance(1000);
      await folder.until('started', 2);
    });
  }

  test('only for a while is left alone', async () => {
    await using folder = await agentFolder();
    const clock = createManualClock();
    await using running = run(folder, '--well', {}, clock);
    await running.ready;
    for (let ping = 0; ping < 10; ping += 1) {
      await clock.advance(5000);
      await running.service.sign({ ...request, node: 'node-a' }); // answered after the ping was
    }
    assert.equal((await folder.events('started')).length, 1);
  });

  test('is not blamed when it was the agent that stood still', async () => {
    await using folder = await agentFolder();
    const clock = createManualClock();
    await using running = run(folder, '--well', {}, clock);
    await running.ready;
    await clock.stall(600_000);
    await running.service.sign({ ...request, node: 'node-a' });
    assert.equal((await folder.events('started')).length, 1);
  });

  test('does not keep the agent from stopping', async () => {
    await using folder = await agentFolder();
    await using running = run(folder, '--stubborn', { stopMs: 200 });
    await running.ready;
    const pid = first(await folder.until('started'));
    await Promise.all([running.end(), running.end()]);
    assert.equal(await isAlive(pid), false);
    assert.deepEqual(await folder.events('left'), []);
  });
});

describe('an agent that is killed', () => {
  test('leaves no control plane behind', async () => {
    await using folder = await agentFolder();
    await using agent = await startProcess(process.execPath, [
      parent,
      standIn,
      folder.path,
      '--well',
      folder.journal,
    ]);
    await agent.waitForOutput(/ready/);
    const pid = first(await folder.until('started'));
    await agent.kill9();
    await gone(pid);
    assert.deepEqual(await folder.events('left'), [pid]);
  });

  test('has its stopped control plane ended by the next agent', async () => {
    await using folder = await agentFolder();
    await using agent = await startProcess(process.execPath, [
      parent,
      standIn,
      folder.path,
      '--well',
      folder.journal,
    ]);
    await agent.waitForOutput(/ready/);
    const pid = first(await folder.until('started'));
    sendSignal(pid, 'SIGSTOP');
    await agent.kill9();
    assert.equal(await isAlive(pid), true);
    await using running = run(folder, '--well');
    await running.ready;
    assert.equal(await isAlive(pid), false);
    assert.match(
      running.log(),
      new RegExp(`"pid":${pid},"msg":"ending the control plane that an earlier agent`),
    );
  });
});

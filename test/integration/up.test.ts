/** `scripts/up` as a person in a checkout uses it, with a real runtime and a real kubectl. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chown, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { exitCodes } from '../../src/base/index.ts';
import type { CommandResult, TemporaryFolder } from '../support/index.ts';
import { isAlive, runCommand, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { Kubectl, LabContainerd } from './lab/index.ts';
import { kubectl, startContainerd } from './lab/index.ts';
import type { AgentStart, RunningAgent } from './nodeward/index.ts';
import {
  controlPlaneOf,
  copyCheckout,
  interrupt,
  launchAgent,
  processesNaming,
  runAgentToItsEnd,
  startAgent,
} from './nodeward/index.ts';

/** What the system lets an ordinary user be. */
const nobody = 65_534;
const stopMs = 3000;

before(ensureBuilt);

async function output(running: Promise<CommandResult>): Promise<string> {
  const { code, stdout, stderr } = await running;
  assert.equal(code, 0, `${stdout}${stderr}`);
  return stdout;
}

/** Status, reason and message of the node's condition Ready. */
async function readyCondition(tool: Kubectl, node: string): Promise<string[]> {
  const condition = '{.status.conditions[?(@.type=="Ready")]';
  const path = `jsonpath=${condition}.status}|${condition}.reason}|${condition}.message}`;
  return (await output(tool.run(['get', 'node', node, '-o', path]))).split('|');
}

describe('scripts/up with a runtime that has a network', () => {
  let runtime: LabContainerd;
  let home: TemporaryFolder;
  let agent: RunningAgent;
  let tool: Kubectl;
  let rootDir: string;
  const start = (): Promise<RunningAgent> =>
    startAgent({ rootDir, args: ['--container-runtime-endpoint', runtime.endpoint] });

  before(async () => {
    runtime = await startContainerd({ cni: true });
    home = await temporaryFolder('up-');
    rootDir = join(home.path, 'root');
  });
  after(async () => {
    await agent?.[Symbol.asyncDispose]();
    await runtime?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  test('tells where everything is, and kubectl shows the node Ready within 5 s of the start', async () => {
    const startedMs = performance.now();
    agent = await start();
    const { API = '', kubeconfig = '', node, agent: url, runtime: state, tries } = agent.summary;
    assert.match(API, /^https:\/\/127\.0\.0\.1:\d+$/);
    assert.match(url, /^https:\/\/[\d.]+:\d+$/);
    assert.equal(kubeconfig, join(rootDir, 'admin.kubeconfig'));
    const version = runtime.release.split('+')[0];
    assert.equal(state, `containerd ${version}, ready`);

    tool = kubectl(kubeconfig, home.path);
    const wide = () => output(tool.run(['get', 'nodes', '-o', 'wide']));
    const shown = await waitFor('the node to be Ready', async () => {
      const text = await wide();
      return / Ready /.test(text) && text;
    });
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs < 5000, `it took ${tookMs} ms`);
    for (const word of [node, new URL(url).hostname, `containerd://${version}`]) {
      assert.ok(shown.includes(word), `${word} in ${shown}`);
    }
    const [first = '', second = ''] = tries;
    assert.equal(first, `kubectl --kubeconfig ${kubeconfig} get nodes -o wide`);
    // the second command works as it is printed, once it is told a container that exists
    const [command = '', ...argv] = second.split(' ');
    const checkpoint = await runCommand(command, argv);
    assert.equal(checkpoint.code, exitCodes.failed);
    assert.match(checkpoint.stderr, /^nodeward: the agent at \S+ answered 404: pod does not exist\n$/);
  });

  test('what it writes is for its user alone', async () => {
    const names = await readdir(rootDir, { recursive: true });
    assert.ok(names.includes('storage/store.sqlite'), names.join(' '));
    for (const path of [rootDir, ...names.map((name) => join(rootDir, name))]) {
      assert.equal((await stat(path)).mode & 0o077, 0, path);
    }
  });

  test('the lease is renewed every 10 s', async () => {
    const { node } = agent.summary;
    const renewed = async (): Promise<number> => {
      const text = await output(
        tool.run(['get', 'lease', '-n', 'kube-node-lease', node, '-o', 'jsonpath={.spec.renewTime}']),
      );
      return Date.parse(text);
    };
    const laterThan = (before: number) =>
      waitFor('the lease to be renewed', async () => (await renewed()) > before && renewed(), {
        timeoutMs: 20_000,
        intervalMs: 250,
      });
    const first = await laterThan(await laterThan(0));
    const second = await laterThan(first);
    assert.ok(second - first > 8000 && second - first < 13_000, `${second - first} ms`);
  });

  test('kubectl get nodes -w follows the runtime’s going and coming', async () => {
    await using watch = await tool.start(['get', 'nodes', '--watch']);
    await watch.waitForOutput(/ Ready /);
    await runtime.stop();
    await watch.waitForOutput(/ NotReady /, { timeoutMs: 20_000 });
    const [status, reason, message = ''] = await readyCondition(tool, agent.summary.node);
    assert.deepEqual([status, reason], ['False', 'KubeletNotReady']);
    assert.match(message, /container runtime is down/);
    await runtime.restart();
    await watch.waitForOutput(/ NotReady (.|\n)* Ready /, { timeoutMs: 30_000 });
  });

  test('Ctrl-C ends everything within 3 s, whoever is connected', async () => {
    const { API = '', agent: url } = agent.summary;
    await using watch = await tool.start(['get', 'nodes', '--watch']);
    await watch.waitForOutput(/ Ready /);
    const sockets = await Promise.all([API, url].map(connectIdle));
    const child = await controlPlaneOf(agent.pid);
    assert.ok(child !== undefined);

    const { code, signal, tookMs } = await agent.interrupt();
    assert.deepEqual([code, signal], [0, null], agent.process.stderr);
    // who has asked nothing is not given the 2 s that answers under way have
    assert.ok(tookMs < 2000, `it took ${tookMs} ms`);
    assert.equal(await isAlive(child), false);
    assert.deepEqual(await processesNaming(rootDir), []);
    assert.doesNotMatch(agent.process.stderr, /^\s+at |"level":"error"/m);
    for (const socket of sockets) socket.destroy();
  });

  test('a second start finds all its state', async () => {
    const identity = async () => ({
      uid: await output(tool.run(['get', 'node', agent.summary.node, '-o', 'jsonpath={.metadata.uid}'])),
      authority: await readFile(join(rootDir, 'pki/ca.crt'), 'utf8'),
      serving: await readFile(join(rootDir, 'pki/nodeward-serving.crt'), 'utf8'),
      admin: await readFile(join(rootDir, 'pki/admin.crt'), 'utf8'),
    });
    agent = await start();
    tool = kubectl(agent.summary.kubeconfig ?? '', home.path);
    const before = await identity();
    assert.equal((await agent.interrupt()).code, 0);
    agent = await start();
    assert.deepEqual(await identity(), before);
    assert.equal((await output(tool.run(['get', 'nodes', '-o', 'name']))).trim().split('\n').length, 1);
  });

  test('Ctrl-C at any moment of the start ends it cleanly, too', async () => {
    assert.equal((await agent.interrupt()).code, 0);
    for (const afterMs of [60, 120, 200, 300, 400, 500, 600, 700, 850, 1000]) {
      const child = await launchAgent({ rootDir, args: ['--container-runtime-endpoint', runtime.endpoint] });
      await sleep(afterMs);
      const { code, signal, tookMs } = await interrupt(child);
      // before the program listens to signals, the system ends it
      const ended = signal === 'SIGINT' || code === 0 || code === 130;
      assert.ok(ended, `after ${afterMs} ms: ${signal ?? code}\n${child.stderr}`);
      assert.ok(tookMs < stopMs, `after ${afterMs} ms it took ${tookMs} ms\n${child.stderr}`);
      assert.deepEqual(await processesNaming(rootDir), [], `after ${afterMs} ms`);
      assert.doesNotMatch(child.stderr, /^\s+at /m);
    }
    agent = await start();
  });
});

describe('scripts/up without a runtime', () => {
  test('runs all the same, and the node says why it is not Ready', async () => {
    await using home = await temporaryFolder('up-');
    const socket = join(home.path, 'nowhere.sock');
    const args = ['--container-runtime-endpoint', `unix://${socket}`];
    await using agent = await startAgent({ rootDir: join(home.path, 'root'), args });
    const { node, kubeconfig = '', runtime } = agent.summary;
    assert.match(runtime, /^container runtime, not ready: /);
    const tool = kubectl(kubeconfig, home.path);
    const message = await waitFor('the condition', async () => {
      const [status, reason, text = ''] = await readyCondition(tool, node);
      return status === 'False' && reason === 'KubeletNotReady' && text.includes(socket) && text;
    });
    assert.match(message, /container runtime/);
    assert.match(await output(tool.run(['get', 'nodes', '-o', 'wide'])), / NotReady /);
    assert.ok((await output(tool.run(['describe', 'node', node]))).includes(message));
  });
});

describe('scripts/up that cannot start', () => {
  let home: TemporaryFolder;
  before(async () => {
    home = await temporaryFolder('up-');
  });
  after(() => home[Symbol.asyncDispose]());

  /** Ends by itself with that code and, as its last words, one line that says why; leaves no process. */
  async function refuses(code: number, message: RegExp, start: AgentStart): Promise<void> {
    const noRuntime = ['--container-runtime-endpoint', `unix://${home.path}/nowhere.sock`];
    const result = await runAgentToItsEnd({ ...start, args: [...noRuntime, ...(start.args ?? [])] });
    assert.equal(result.timedOut, false);
    assert.equal(result.code, code, result.stderr);
    const said = result.stderr.split('\n').filter((line) => /^(nodeward|error):/.test(line));
    assert.equal(said.length, 1, result.stderr);
    assert.match(said[0] ?? '', message);
    assert.doesNotMatch(result.stderr, /^\s+at /m);
    assert.equal(result.stdout, '');
    assert.deepEqual(await processesNaming(start.rootDir), []);
  }

  async function withTakenPort(use: (port: string) => Promise<void>): Promise<void> {
    await using server = createServer().listen(0, '0.0.0.0');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    await use(String(address.port));
  }

  test('the agent’s port is taken', () =>
    withTakenPort((port) =>
      refuses(exitCodes.address, new RegExp(`the agent cannot listen on 0\\.0\\.0\\.0:${port}: .*--port$`), {
        rootDir: join(home.path, 'agent-port'),
        args: ['--port', port],
      }),
    ));

  test('the API’s port is taken', () =>
    withTakenPort((port) =>
      refuses(
        exitCodes.address,
        new RegExp(`the API cannot listen on 127\\.0\\.0\\.1:${port}: .*--secure-port$`),
        {
          rootDir: join(home.path, 'api-port'),
          args: ['--secure-port', port],
        },
      ),
    ));

  test('the agent’s address is not of this machine', () =>
    refuses(
      exitCodes.address,
      /cannot listen on 203\.0\.113\.7:\d+: this machine has no such address; .*--address$/,
      {
        rootDir: join(home.path, 'address'),
        args: ['--address', '203.0.113.7'],
      },
    ));

  test('flags that are wrong', async () => {
    const rootDir = join(home.path, 'flags');
    const wrong: readonly (readonly [string[], RegExp])[] = [
      [['--no-such-flag'], /unknown option '--no-such-flag'/],
      [['--port', '65536'], /'--port <port>' argument '65536' is invalid\. It must be a port/],
      [['--secure-port'], /'--secure-port <port>' argument missing/],
      [['--embedded-control-plane', 'maybe'], /It must be true or false/],
      [['--storage', 'clay'], /Allowed choices are sqlite, etcd, memory/],
      [['--hostname-override', 'Two Words'], /the node cannot be named "two words"/],
      [['surplus'], /too many arguments/],
      [
        ['--kubeconfig', 'file', '--embedded-control-plane=true'],
        /--kubeconfig and --embedded-control-plane=true exclude each other/,
      ],
    ];
    for (const [args, message] of wrong) await refuses(exitCodes.usage, message, { rootDir, args });
    await assert.rejects(stat(rootDir), { code: 'ENOENT' });
  });

  test('files that are wrong', async () => {
    const rootDir = join(home.path, 'files');
    await refuses(exitCodes.configuration, /nowhere\.yaml/, { rootDir, args: ['--config', '/nowhere.yaml'] });
    await refuses(exitCodes.configuration, /nowhere\.kubeconfig/, {
      rootDir,
      args: ['--kubeconfig', '/nowhere.kubeconfig'],
    });
  });

  test('a store that was made with another group suffix', async () => {
    const rootDir = join(home.path, 'suffix');
    const first = await startAgent({ rootDir, args: ['--group-suffix', 'example.org'] });
    assert.equal((await first.interrupt()).code, 0);
    await refuses(exitCodes.configuration, /example\.org/, { rootDir });
  });
});

describe('scripts/up as an ordinary user', () => {
  let home: TemporaryFolder;
  let checkout: string;
  before(async () => {
    home = await temporaryFolder('up-');
    await runCommand('chmod', ['755', home.path]);
    checkout = await copyCheckout(join(home.path, 'checkout'));
    await mkdir(join(home.path, 'own'));
    await chown(join(home.path, 'own'), nobody, nobody);
  });
  after(() => home[Symbol.asyncDispose]());

  test('works with a root folder of its own', async () => {
    const rootDir = join(home.path, 'own/root');
    const args = ['--container-runtime-endpoint', `unix://${home.path}/nowhere.sock`];
    await using agent = await startAgent({ rootDir, checkout, uid: nobody, args });
    const tool = kubectl(agent.summary.kubeconfig ?? '', home.path);
    await waitFor('the node', async () => / NotReady /.test(await output(tool.run(['get', 'nodes']))));
    assert.equal((await stat(join(rootDir, 'storage/store.sqlite'))).uid, nobody);
    const { code, tookMs } = await agent.interrupt();
    assert.equal(code, 0, agent.process.stderr);
    assert.ok(tookMs < stopMs, `it took ${tookMs} ms`);
  });

  test('a folder that it may not write in is a clear error', async () => {
    const rootDir = join(home.path, 'not-own');
    const result = await runAgentToItsEnd({ rootDir, checkout, uid: nobody });
    assert.equal(result.code, exitCodes.unwritable, result.stderr);
    const [line, ...more] = result.stderr.trim().split('\n');
    assert.deepEqual(more, []);
    assert.match(line ?? '', new RegExp(`^nodeward: .*${rootDir}.*user ${nobody}`));
    assert.deepEqual(await processesNaming(rootDir), []);
  });
});

/** A client that says nothing. */
async function connectIdle(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

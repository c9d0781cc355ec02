// lane: exclusive (it measures how soon the node is ready and all has ended)
/** `scripts/up` as a person in a checkout uses it, with a real runtime and a real kubectl. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { exitCodes } from '../../src/base/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { isAlive, runCommand, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { Kubectl, LabContainerd } from './lab/index.ts';
import { kubectl, startContainerd } from './lab/index.ts';
import type { RunningAgent } from './nodeward/index.ts';
import { controlPlaneOf, interrupt, launchAgent, processesNaming, startAgent } from './nodeward/index.ts';
import { outputOf } from './ready-condition.ts';

const stopMs = 3000;

before(ensureBuilt);

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
    const wide = () => outputOf(tool.run(['get', 'nodes', '-o', 'wide']));
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
    assert.match(command, /^(\.|\/.*)\/nodeward$/, 'not the long names of Node.js and the program');
    const checkpoint = await runCommand(command, argv);
    assert.equal(checkpoint.code, exitCodes.failed);
    assert.match(
      checkpoint.stderr,
      /^nodeward: the agent at \S+ answered 404: pod does not exist \(namespace "NAMESPACE", pod "POD", container "CONTAINER"\)\n$/,
    );
  });

  test('what it writes is for its user alone', async () => {
    const names = await readdir(rootDir, { recursive: true });
    assert.ok(names.includes('storage/store.sqlite'), names.join(' '));
    for (const path of [rootDir, ...names.map((name) => join(rootDir, name))]) {
      assert.equal((await stat(path)).mode & 0o077, 0, path);
    }
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
    assert.ok(agent.process.stdout.endsWith(`stopped; state in ${rootDir}\n`), agent.process.stdout);
    // who has asked nothing is not given the 2 s that answers under way have
    assert.ok(tookMs < 2000, `it took ${tookMs} ms`);
    assert.equal(await isAlive(child), false);
    assert.deepEqual(await processesNaming(rootDir), []);
    assert.doesNotMatch(agent.process.stderr, /^\s+at |"level":"error"/m);
    for (const socket of sockets) socket.destroy();
  });

  test('a second start finds all its state', async () => {
    const identity = async () => ({
      uid: await outputOf(tool.run(['get', 'node', agent.summary.node, '-o', 'jsonpath={.metadata.uid}'])),
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
    assert.equal((await outputOf(tool.run(['get', 'nodes', '-o', 'name']))).trim().split('\n').length, 1);
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

/** A client that says nothing. */
async function connectIdle(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

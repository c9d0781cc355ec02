import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, readlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { V1Status } from '@kubernetes/client-node';
import { Exec, KubeConfig } from '@kubernetes/client-node';
import { runCommand, startProcess, waitFor } from '../../support/index.ts';
import type { Kubectl } from '../lab/index.ts';
import { fetched, image, kubectl } from '../lab/index.ts';
import { isRunningAndReady } from './conditions.ts';
import { script, sleeper, webServer } from './containers.ts';
import type { PodNode } from './pod-node.ts';
import { until } from './stories.ts';

/** What people do with a pod that runs, by each kubectl: SPDY from the oldest, WebSocket first from the others. */
const programs = ['kubectl-1.20/bin/kubectl', 'kubectl-1.32/bin/kubectl', 'tools/bin/kubectl'];

function runners({ agent, rootDir }: PodNode) {
  const { kubeconfig = '' } = agent.summary;
  return programs.map((path) => ({ path, ...kubectl(kubeconfig, dirname(rootDir), fetched(path)) }));
}

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

const isOldest = (path: string) => path === programs[0];

/** By what kubectl says of its requests: it got the protocol that it asked for first. */
function assertNoFallback(path: string, said: string, protocol: string): void {
  const names = said.split('\n').filter((line) => line.includes(`Sec-Websocket-Protocol: ${protocol}`));
  assert.deepEqual([names.length, /fallback to/.test(said)], [2, false], `${path}: ${said.slice(0, 4000)}`);
}

/** Commands with their exit codes, both outputs and an input that ends. */
export async function runsCommands(lab: PodNode): Promise<void> {
  const pod = await lab.run('shell', { containers: [sleeper(), sleeper('other')] });
  await until(lab, 'it to run', pod, isRunningAndReady);
  for (const { run, path } of runners(lab)) {
    const exec = (...argv: string[]) => run(['exec', 'shell', '-c', 'main', '--', ...argv]);
    const said = await exec('sh', '-c', 'echo out; echo err >&2; exit 7');
    assert.equal(said.code, 7, `${path}: ${said.stderr}`);
    assert.equal(said.stdout, 'out\n');
    assert.match(said.stderr, /^err\n/);
    const large = randomBytes(4 * 1024 * 1024).toString('hex');
    const echo = await run(['-v=8', 'exec', '-i', 'shell', '-c', 'main', '--', 'cat'], { input: large });
    assert.equal(sha256(echo.stdout), sha256(large), `${path}: ${echo.stderr.slice(-2000)}`);
    if (!isOldest(path)) assertNoFallback(path, echo.stderr, 'v5.channel.k8s.io');
    const none = await run(['exec', 'shell', '-c', 'none', '--', 'true']);
    assert.match(none.stderr, /container none is not valid for pod shell/, path);
    const absent = await exec('/no/such/program');
    assert.notEqual(absent.code, 0);
    assert.match(absent.stderr, /no such file or directory/);
  }
  await lab.delete('shell', 0);
}

/** What a container's first process reads and writes, by those who attach to it. */
export async function attachesTo(lab: PodNode): Promise<void> {
  const echoes = script('main', 'while read -r line; do echo "got $line"; done; echo over; sleep 3600', {
    stdin: true,
  });
  const pod = await lab.run('reads', { containers: [echoes] });
  await until(lab, 'it to run', pod, isRunningAndReady);
  const { kubeconfig = '' } = lab.agent.summary;
  const fifo = join(dirname(lab.rootDir), 'input');
  await runCommand('mkfifo', [fifo]);
  for (const [index, path] of programs.entries()) {
    await using input = await open(fifo, 'r+'); // it stays open: at its end kubectl does not wait for an answer
    const attach = 'exec "$0" --kubeconfig "$1" attach -i reads < "$2"';
    await using attached = await startProcess('sh', ['-c', attach, fetched(path), kubeconfig, fifo]);
    // again and again: what a container answers before the runtime has attached its output, nobody sees
    const lines = setInterval(() => void input.write(`line ${index}\n`).catch(() => undefined), 500);
    using _ = { [Symbol.dispose]: () => clearInterval(lines) };
    await attached.waitForOutput(new RegExp(`^got line ${index}$`, 'm'));
  }
  await lab.delete('reads', 0);
}

/** Connections to a port of a pod, many at once, and one to a port where nobody listens. */
export async function forwardsPorts(lab: PodNode): Promise<void> {
  const pod = await lab.run('serves', { containers: [webServer(8080, 'hello')] });
  await until(lab, 'it to run', pod, isRunningAndReady);
  for (const { start, path } of runners(lab)) {
    await using forwarding = await start([
      '-v=8',
      'port-forward',
      '--address',
      '127.0.0.1',
      'pod/serves',
      ':8080',
    ]);
    const [, port = ''] = await forwarding.waitForOutput(/Forwarding from 127\.0\.0\.1:(\d+)/);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(Number(port))));
    assert.deepEqual(new Set(answers.map((text) => text.includes('hello'))), new Set([true]), path);
    if (!isOldest(path))
      assertNoFallback(path, forwarding.stdout + forwarding.stderr, 'SPDY/3.1+portforward.k8s.io');
  }
  for (const { run, path } of runners(lab)) {
    const page = await run(['get', '--raw', '/api/v1/namespaces/default/pods/serves:8080/proxy/index.html']);
    assert.equal(page.stdout, 'hello\n', `${path}: ${page.stderr}`);
  }
  await lab.delete('serves', 0);
}

/** Speaks HTTP/1.0 itself: kubectl's end of a connection closes when the server's does. */
async function ask(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end('GET / HTTP/1.0\r\n\r\n');
  let text = '';
  for await (const piece of socket) text += String(piece);
  return text;
}

/** A tree of files, there and back. */
export async function copiesFiles(lab: PodNode): Promise<void> {
  const pod = await lab.run('keeps', { containers: [sleeper()] });
  await until(lab, 'it to run', pod, isRunningAndReady);
  const home = join(dirname(lab.rootDir), 'tree');
  await mkdir(join(home, 'below'), { recursive: true });
  const bytes = randomBytes(3 * 1024 * 1024 + 1);
  await writeFile(join(home, 'below', 'large'), bytes);
  await writeFile(join(home, 'small'), 'small\n');
  for (const [index, { run, path }] of runners(lab).entries()) {
    const there = await run(['cp', home, `keeps:/tmp/tree${index}`]);
    assert.equal(there.code, 0, `${path}: ${there.stderr}`);
    const back = join(home, '..', `back${index}`);
    const again = await run(['cp', `keeps:/tmp/tree${index}`, back]);
    assert.equal(again.code, 0, `${path}: ${again.stderr}`);
    assert.equal(sha256(await readFile(join(back, 'below', 'large'))), sha256(bytes), path);
    assert.equal(await readFile(join(back, 'small'), 'utf8'), 'small\n');
  }
  await lab.delete('keeps', 0);
}

/** A container beside those of a pod, made and entered while the pod runs. */
export async function debugs(lab: PodNode): Promise<void> {
  const pod = await lab.run('looked-at', { containers: [sleeper()] });
  await until(lab, 'it to run', pod, isRunningAndReady);
  const [, , newest] = runners(lab);
  assert.ok(newest !== undefined);
  // again and again: what it wrote before somebody was attached is not shown
  const look = 'while :; do ls /proc/1/root > /dev/null && echo sees; sleep 0.2; done';
  const argv = [
    'debug',
    '--attach',
    'looked-at',
    '--image',
    image,
    '--target',
    'main',
    '--profile',
    'general',
  ];
  await using debugging = await newest.start([...argv, '--', 'sh', '-c', look]);
  await debugging.waitForOutput(/^sees$/m);
  const copying = ['debug', 'looked-at', '--image', image, '--profile', 'general', '--copy-to', 'copy'];
  const finds = 'until ps -o comm | grep -q sleep; do sleep 0.2; done; echo sees';
  const copied = await newest.run([...copying, '--same-node', '--share-processes', '--', 'sh', '-c', finds]);
  const [, debuggingName = ''] = /container name to (\S+)\./.exec(copied.stdout + copied.stderr) ?? [];
  assert.equal(await wordsOf(newest, 'copy', '-c', debuggingName), 'sees\n');
  await lab.delete('looked-at', 0);
  await lab.delete('copy', 0);
}

/** What kubectl shows of a container as soon as it has written something. */
async function wordsOf({ run }: Kubectl, ...argv: string[]): Promise<string> {
  return await waitFor(
    `words of ${argv.join(' ')}`,
    async () => (await run(['logs', ...argv])).stdout || undefined,
  );
}

/** A pod on the node with all that is the node's: its files, processes, network and messages between processes. */
export async function debugsNode(lab: PodNode): Promise<void> {
  const [file, told] = [join(dirname(lab.rootDir), 'of-the-node'), randomBytes(8).toString('hex')];
  await writeFile(file, `${told}\n`);
  const ipc = await readlink('/proc/self/ns/ipc');
  const look = [`cat ${file}`, `ls -d /proc/${lab.agent.pid}`, 'readlink /proc/self/ns/ipc'];
  const command = [
    'chroot',
    '/host',
    'sh',
    '-c',
    `echo $(${[...look, 'cat /proc/net/fib_trie'].join('; ')})`,
  ];
  for (const each of runners(lab)) {
    const profile = isOldest(each.path) ? [] : ['--profile', 'sysadmin']; // the oldest has none
    const argv = ['debug', `node/${lab.name}`, '--image', image, ...profile, '--', ...command];
    const { stdout, stderr } = await each.run(argv);
    const [, name = ''] = /Creating debugging pod (\S+)/.exec(stdout + stderr) ?? [];
    const words = await wordsOf(each, name);
    assert.ok(words.startsWith(`${told} /proc/${lab.agent.pid} ${ipc} `), `${each.path}: ${words}`);
    assert.ok(words.includes(` ${lab.node.address} `), `${each.path}: ${words}`);
    await lab.delete(name, 0);
  }
}

/** The clients in other languages: Python's speaks the older protocol of WebSocket, JavaScript's the newest. */
export async function servesOtherClients(lab: PodNode): Promise<void> {
  const pod = await lab.run('shell', { containers: [sleeper()] });
  await until(lab, 'it to run', pod, isRunningAndReady);
  const { kubeconfig = '' } = lab.agent.summary;
  const script = join(import.meta.dirname, 'clients/exec.py');
  const python = await runCommand(fetched('python/bin/python3'), [script, kubeconfig]);
  assert.equal(python.code, 0, python.stderr);
  assert.deepEqual(JSON.parse(python.stdout), ['out\n', 'err\n', 7, 'got a line', 0]);
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const status = Promise.withResolvers<V1Status>();
  const command = ['sh', '-c', 'cat; exit 3'];
  const on = { namespace: 'default', pod: 'shell', container: 'main' };
  const socket = await new Exec(config).exec(
    ...([on.namespace, on.pod, on.container, command, output, null, input, false] as const),
    status.resolve,
  );
  assert.equal(socket.protocol, 'v5.channel.k8s.io');
  input.end('a line');
  const { reason, details } = await status.promise;
  assert.deepEqual([reason, details?.causes?.[0]?.message], ['NonZeroExitCode', '3']);
  assert.equal(String(output.read()), 'a line');
  await lab.delete('shell', 0);
}

/** Sessions that the stop of the agent and its control plane ends; nothing of them is left. */
export async function saysWhyItEnds(lab: PodNode): Promise<void> {
  const pod = await lab.run('shell', { containers: [sleeper()] });
  await until(lab, 'it to run', pod, isRunningAndReady);
  const looks = 'while :; do echo still; sleep 0.2; done';
  await using started = new AsyncDisposableStack();
  const sessions = [];
  for (const { start, path } of runners(lab)) {
    const session = started.use(await start(['exec', 'shell', '--', 'sh', '-c', looks]));
    await session.waitForOutput(/^still$/m);
    sessions.push({ session, path });
  }
  await lab.restartAgent('interrupt');
  for (const { session, path } of sessions)
    assert.match((await session.waitForOutput(/^error: .*$/m))[0], /the server is stopping/, path);
  const count = ['exec', 'shell', '--', 'sh', '-c', 'ps | grep -c "[e]cho still"'];
  await waitFor('nothing of them to be left', async () => (await lab.kubectl.run(count)).stdout === '0\n');
  await lab.delete('shell', 0);
}

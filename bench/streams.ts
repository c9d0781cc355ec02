/**
 * What a stream into a pod costs beside the runtime's own streaming server: `node bench/streams.ts [built] [quick]`, as root, with
 * the laboratory's containerd. An agent with its control plane runs in a node of the lab; the client runs in the same node, so that
 * it reaches all three. Each figure is the median of rounds in which the ways take part one after the other, and stands as a ratio to the
 * direct way of the same run. What the agent and the control plane used of the CPU is beside it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { openConnection, podCalls, streamCalls } from '../src/agent/runtime/index.ts';
import { clientOptionsOf, readKubeconfig } from '../src/client/index.ts';
import { controlPlaneOf } from '../test/integration/nodeward/index.ts';
import { isRunningAndReady, script, startPodNode, uidOf, until } from '../test/integration/pods/index.ts';
import { buildUnlessBuilt } from './apiserver/build.ts';
import { cpuMs } from './apiserver/process-cost.ts';
import { printRow } from './report.ts';
import type { Ask, Place, Start } from './streams/ways.ts';
import { portWays, ways } from './streams/ways.ts';

const mebibyte = 1024 * 1024;
const quick = process.argv.includes('quick');
const [sizeMiB, rounds, echoes] = quick ? [16, 3, 100] : [100, 5, 500];
/** Less than one file of logs, so that none is rotated. */
const logMiB = 6;
const port = 8080;

interface Settings {
  readonly kubeconfig: string;
  readonly endpoint: string;
  readonly containerId: string;
  readonly sandboxId: string;
  /** The folder of the pod's logs. */
  readonly logs: string;
  readonly pids: { readonly agent: number; readonly controlPlane: number };
}

async function main(): Promise<void> {
  await buildUnlessBuilt();
  await using lab = await startPodNode();
  const page = `mkdir /tmp/www; head -c ${sizeMiB * mebibyte} /dev/zero > /tmp/www/large`;
  const log = `yes ${'0123456789'.repeat(10)} | head -c ${logMiB * mebibyte}`;
  const serve = `${page}; ${log}; exec httpd -f -p ${port} -h /tmp/www`;
  const pod = await lab.run('streams', {
    containers: [script('main', serve)],
    terminationGracePeriodSeconds: 0,
  });
  const running = await until(lab, 'it to run', pod, isRunningAndReady);
  const containerId = (running.status?.containerStatuses?.[0]?.containerID ?? '').replace(/^.*\/\//, '');
  const settings: Settings = {
    kubeconfig: lab.agent.summary.kubeconfig ?? '',
    endpoint: lab.node.containerd.endpoint,
    containerId,
    logs: join('/var/log/pods', `default_streams_${uidOf(pod)}`),
    sandboxId: await sandboxOf(lab.node.containerd.endpoint, uidOf(pod)),
    pids: { agent: lab.agent.pid, controlPlane: (await controlPlaneOf(lab.agent.pid)) ?? 0 },
  };
  const argv = [import.meta.filename, 'client', JSON.stringify(settings), ...(quick ? ['quick'] : [])];
  const [command, ...rest] = lab.node.inside(process.execPath, argv);
  const [code] = await once(spawn(command, rest, { stdio: 'inherit' }), 'exit');
  if (code !== 0) process.exitCode = 1;
}

async function sandboxOf(endpoint: string, uid: string): Promise<string> {
  using connection = openConnection([endpoint]);
  const [sandbox] = await podCalls(connection, { timeoutMs: 20_000 }).listSandboxes(uid);
  return sandbox?.id ?? '';
}

type Measure = () => Promise<number>;

/** Runs the ways round by round, and prints for each the median, its ratio to the first, and what ours used of the CPU. */
async function compare(
  what: string,
  unit: string,
  measures: Readonly<Record<string, Measure>>,
  { pids }: Settings,
  perRoundMiB?: number,
): Promise<void> {
  const names = Object.keys(measures);
  const taken = new Map(names.map((name) => [name, { values: [] as number[], cpuMs: 0 }]));
  const used = async () => (await cpuMs(pids.agent)) + (await cpuMs(pids.controlPlane));
  for (let round = 0; round < rounds; round += 1)
    for (const [name, measure] of Object.entries(measures)) {
      const before = await used();
      taken.get(name)?.values.push(await measure());
      const all = taken.get(name);
      if (all !== undefined) all.cpuMs += (await used()) - before;
    }
  let first: number | undefined;
  for (const [name, { values, cpuMs: spent }] of taken) {
    const median = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
    first ??= median;
    const cpu = perRoundMiB === undefined ? '' : `${(spent / rounds / perRoundMiB).toFixed(2)} ms/MiB`;
    printRow([`${what}, ${name}`, `${median.toFixed(2)} ${unit}`, `×${(median / first).toFixed(2)}`, cpu]);
  }
}

async function output(start: Start, place: Place): Promise<number> {
  const session = await start(place, `head -c ${sizeMiB * mebibyte} /dev/zero`);
  const startMs = performance.now();
  let bytes = 0;
  session.onOutput = (piece) => {
    bytes += piece.length;
  };
  await session.status;
  if (bytes !== sizeMiB * mebibyte) throw new Error(`${bytes} bytes of ${sizeMiB} MiB came`);
  return speed(startMs);
}

async function input(start: Start, place: Place): Promise<number> {
  const session = await start(place, 'wc -c'); // a command that closes its output gets no input any more
  const startMs = performance.now();
  const piece = Buffer.alloc(64 * 1024);
  for (let sent = 0; sent < sizeMiB * mebibyte; sent += piece.length) await session.write(piece);
  session.end();
  await session.status;
  return speed(startMs);
}

const speed = (startMs: number) => sizeMiB / ((performance.now() - startMs) / 1000);

/** The median time from a line to its echo. */
async function echo(start: Start, place: Place): Promise<number> {
  const session = await start(place, 'cat');
  const times: number[] = [];
  for (let round = 0; round < echoes; round += 1) {
    const { promise, resolve } = Promise.withResolvers<void>();
    session.onOutput = (piece) => piece.length > 0 && resolve();
    const startMs = performance.now();
    await session.write(Buffer.from('a line\n'));
    await promise;
    times.push(performance.now() - startMs);
  }
  session.close();
  return times.toSorted((a, b) => a - b)[Math.floor(echoes / 2)] ?? 0;
}

async function fromPort(ask: Ask, place: Place): Promise<number> {
  const startMs = performance.now();
  const { bytes } = await ask(place, port, 'GET /large HTTP/1.0\r\n\r\n');
  if (bytes < sizeMiB * mebibyte) throw new Error(`${bytes} bytes of ${sizeMiB} MiB came`);
  return speed(startMs);
}

/** The median time from the begin of a connection to its answer; runtimes take a second to end each. */
async function smallAnswer(ask: Ask, place: Place): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < echoes / 100; round += 1) {
    const { firstMs } = await ask(place, port, 'GET /none HTTP/1.0\r\n\r\n');
    times.push(firstMs);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

/** A log of some MiB, and how fast its files are read. */
async function fromLog({ server, tls, pod }: Place): Promise<number> {
  const startMs = performance.now();
  const asking = httpsRequest(`${server}/api/v1/namespaces/default/pods/${pod}/log`, {
    ...tls,
    agent: false,
  });
  const [answer] = await once(asking.end(), 'response');
  let bytes = 0;
  for await (const piece of answer) bytes += piece.length;
  return bytes / mebibyte / ((performance.now() - startMs) / 1000);
}

async function byCat(folder: string): Promise<number> {
  const startMs = performance.now();
  const reading = spawn('sh', ['-c', `cat ${folder}/*/*.log*`], { stdio: ['ignore', 'pipe', 'inherit'] });
  let bytes = 0;
  for await (const piece of reading.stdout) bytes += piece.length;
  return bytes / mebibyte / ((performance.now() - startMs) / 1000);
}

async function measureAll(settings: Settings): Promise<void> {
  const { server, ca, cert = '', key = '' } = clientOptionsOf(await readKubeconfig(settings.kubeconfig));
  using connection = openConnection([settings.endpoint]);
  const calls = streamCalls(connection, 10_000);
  const { containerId, sandboxId } = settings;
  const place: Place = { server, tls: { ca, cert, key }, calls, containerId, sandboxId, pod: 'streams' };
  const each = <T>(all: Readonly<Record<string, T>>, measure: (way: T, place: Place) => Promise<number>) =>
    Object.fromEntries(Object.entries(all).map(([name, way]) => [name, () => measure(way, place)]));
  printRow(['', 'median', 'to direct', 'CPU of ours']);
  await compare('output of exec', 'MiB/s', each(ways, output), settings, sizeMiB);
  await compare('input of exec', 'MiB/s', each(ways, input), settings, sizeMiB);
  await compare('echo of a line', 'ms', each(ways, echo), settings);
  await compare('port-forward', 'MiB/s', each(portWays, fromPort), settings, sizeMiB);
  await compare('a small answer of a port', 'ms', each(portWays, smallAnswer), settings);
  const logs = { 'cat of its files': () => byCat(settings.logs), 'the API': () => fromLog(place) };
  await compare('log', 'MiB/s', logs, settings, logMiB);
}

const [mode, text = ''] = process.argv.slice(2);
if (mode === 'client') await measureAll(JSON.parse(text));
else await main();

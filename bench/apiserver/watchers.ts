/**
 * What watchers cost: `node bench/apiserver/watchers.ts [built] [count]`. One event, and a hundred at once, to that many
 * watchers (1,000) on as many TLS connections: the time from the writer's first byte until the last watcher has it. CPU
 * is the server's, memory is PSS and includes the connections. The same is asked of a server that does nothing else.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Connection, Target } from './connection.ts';
import { requestBytes } from './connection.ts';
import { expectSuccess, openAll } from './load.ts';
import { pssMiB } from './process-cost.ts';
import { startBaseline, startServer } from './server.ts';
import type { Spread } from './watching.ts';
import { Watching } from './watching.ts';

const root = resolve(import.meta.dirname, '../..');
const count = Number(process.argv.find((argument) => /^\d+$/.test(argument)) ?? 1000);
const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const bundle = 100;

const role = (name: string, round: number) =>
  JSON.stringify({
    metadata: { name, labels: { round: String(round) } },
    rules: [
      { apiGroups: [''], resources: ['pods', 'pods/log', 'services'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['*'], resourceNames: ['a', 'b'] },
    ],
  });

/** Changes an object; its version. */
async function put(line: Connection | undefined, index: number, round: number): Promise<string> {
  const name = `bench-${index}`;
  const sent = { method: 'PUT', path: `${path}/${name}`, body: role(name, round) };
  const reply = await line?.ask(requestBytes(sent));
  if (reply === undefined) throw new Error('there is no connection to write on');
  expectSuccess(reply);
  return /"resourceVersion":"(\d+)"/.exec(reply.bytes.toString('latin1', reply.bodyAt))?.[1] ?? '';
}

async function main(): Promise<void> {
  if (!process.argv.includes('built')) await build();
  print(['', 'least', 'p50', 'p90', 'CPU', 'target']);
  await using server = await startServer();
  await using bare = await startBaseline(server, 'broadcast-server.ts');
  await measureServer(server.target);
  await measureBare(bare.target);
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    join(import.meta.dirname, 'watcher-memory.ts'),
  ]);
  print(['an idle watch without its connection', `${(Number(stdout) / 1024).toFixed(1)} KiB`, '≤ 4 KiB']);
}

async function measureServer(target: Target): Promise<void> {
  using lines = await openAll(target, 64);
  const burst = async (round: number) => {
    await Promise.all(
      lines.all.map(async (line, first) => {
        for (let index = first; index < bundle; index += lines.all.length) await put(line, index, round);
      }),
    );
  };
  await burst(2000);
  const version = await put(lines.all[0], 0, 2001);
  const before = await pssMiB(target.pid);
  using watching = await Watching.open(target, count, `${path}?watch=1&resourceVersion=${version}`);
  const eachKiB = (((await pssMiB(target.pid)) - before) * 1024) / count;
  show(
    'one event',
    1,
    await watching.measure(1, (round) => put(lines.all[0], 0, round)),
    'p50 ≤ 20 ms, CPU ≤ 18',
  );
  const many = await watching.measure(bundle, (round) => burst(1000 + round));
  show(`${bundle} events at once, each`, bundle, many, 'p50 ≤ 2.5 ms');
  print(['a watch with its connection', `${eachKiB.toFixed(0)} KiB`]);
}

async function measureBare(target: Target): Promise<void> {
  using lines = await openAll(target, 1);
  using watching = await Watching.open(target, count, `${path}?watch=1`);
  show('one event, bare TLS', 1, await watching.measure(1, () => put(lines.all[0], 0, 0)), '');
}

function show(what: string, events: number, { minMs, p50Ms, p90Ms, cpuMs }: Spread, target: string): void {
  const each = (ms: number) => `${(ms / events).toFixed(2)} ms`;
  print([what, each(minMs), each(p50Ms), each(p90Ms), each(cpuMs), target]);
}

function print([first = '', ...rest]: string[]): void {
  process.stdout.write(`${first.padEnd(40)}${rest.map((cell) => cell.padStart(14)).join('')}\n`);
}

async function build(): Promise<void> {
  const child = spawn(process.execPath, [join(root, 'scripts/build.ts')], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the build ended with ${code}`);
}

await main();

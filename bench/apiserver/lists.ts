/**
 * What lists of many pods cost: `node bench/apiserver/lists.ts [quick] [built] [beside=FOLDER] [only=TEXT]`. CPU is the server's, of all
 * threads, for a whole list; every row also says how many times the cost of the list in JSON it is, in the same run. With
 * another build beside it, the requests go to both in turn.
 */
import { printRow } from '../report.ts';
import { buildUnlessBuilt } from './build.ts';
import type { Sent, Target } from './connection.ts';
import { loadOf, measure } from './load.ts';
import { podCreation, podsPath } from './pods.ts';
import { cpuMs, pssMiB } from './process-cost.ts';
import type { Server } from './server.ts';
import { startServer } from './server.ts';
import { readStreamedList } from './streamed-list.ts';

const count = process.argv.includes('quick') ? 2_000 : 20_000;
const rounds = 5;
const option = (name: string) =>
  process.argv.find((argument) => argument.startsWith(`${name}=`))?.slice(`${name}=`.length);
const another = option('beside');
/** Only work whose name contains this text. */
const only = option('only') ?? '';

const protobuf = 'application/vnd.kubernetes.protobuf';
const metadataOnly = (kind: string) => `${protobuf};as=${kind};g=meta.k8s.io;v=v1`;
const streamed = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';

interface Form {
  what: string;
  accept: string;
  query?: string;
  gzip?: boolean;
  /** How often it is asked for at once, so that the clock of CPU time sees it. */
  times?: number;
}

const forms: readonly Form[] = [
  { what: 'list, JSON', accept: 'application/json' },
  { what: 'list, JSON, gzip', accept: 'application/json', gzip: true },
  { what: 'list, protobuf', accept: protobuf },
  { what: 'list, protobuf, gzip', accept: protobuf, gzip: true },
  { what: 'list, metadata only, protobuf', accept: metadataOnly('PartialObjectMetadataList') },
  { what: 'streaming list, JSON', accept: 'application/json', query: streamed },
  { what: 'streaming list, protobuf', accept: protobuf, query: streamed },
  {
    what: 'streaming list, metadata only, protobuf',
    accept: metadataOnly('PartialObjectMetadata'),
    query: streamed,
  },
  {
    what: 'list by a label that nobody has',
    accept: protobuf,
    query: 'labelSelector=nobody%3Dhas',
    times: 10,
  },
  {
    what: 'list by a label that 1 in 500 has',
    accept: protobuf,
    query: 'labelSelector=app%3Dweb-7',
    times: 10,
  },
  { what: 'list by not having a label', accept: protobuf, query: 'labelSelector=!app', times: 10 },
  {
    what: 'list by a phase that none is in',
    accept: protobuf,
    query: 'fieldSelector=status.phase%3DFailed',
    times: 5,
  },
];

async function main(): Promise<void> {
  await buildUnlessBuilt();
  await using stack = new AsyncDisposableStack();
  const servers: Server[] = [];
  for (const program of another === undefined ? [undefined] : [undefined, another]) {
    const settings = { args: ['--feature-gates', 'WatchList=true'], program, beside: servers[0] };
    const server = stack.use(await startServer(undefined, settings));
    servers.push(server);
    await measure(server.target, loadOf(count, 16, podCreation));
  }
  await showMemory('memory with the pods, MiB', servers);
  printRow(['work', ...servers.flatMap(() => ['CPU ms', '× JSON', 'wall ms'])]);
  const inJson: number[] = [];
  for (const form of forms.filter(({ what }) => what.includes(only))) {
    const rows = await compare(form, servers);
    for (const [index, { cpu }] of rows.entries()) inJson[index] ??= cpu;
    const cells = rows.flatMap(({ cpu, wall }, index) => [
      cpu.toFixed(1),
      (cpu / (inJson[index] ?? 1)).toFixed(2),
      wall.toFixed(1),
    ]);
    printRow([form.what, ...cells]);
    if (form.what === 'list, JSON, gzip') await showMemory('memory after lists in JSON, MiB', servers);
  }
  await showMemory('memory at the end, MiB', servers);
}

/** Medians of what each server needs, asked in turn. */
async function compare(form: Form, servers: readonly Server[]): Promise<{ cpu: number; wall: number }[]> {
  const all = servers.map(() => ({ cpu: [] as number[], wall: [] as number[] }));
  for (let round = -2; round < rounds; round++) {
    for (const [index, { target }] of servers.entries()) {
      const { cpu, wall } = await askOnce(target, form);
      if (round < 0) continue;
      all[index]?.cpu.push(cpu);
      all[index]?.wall.push(wall);
    }
  }
  return all.map(({ cpu, wall }) => ({ cpu: medianOf(cpu), wall: medianOf(wall) }));
}

async function askOnce(target: Target, form: Form): Promise<{ cpu: number; wall: number }> {
  const { accept, gzip = false, query = '', times = 1 } = form;
  const headers = { accept, ...(gzip && { 'accept-encoding': 'gzip' }) };
  const request: Sent = { method: 'GET', path: `${podsPath}?${query}`, headers };
  const [before, startedMs] = [await cpuMs(target.pid), performance.now()];
  if (query === streamed) await readStreamedList(target, request);
  else
    await measure(
      target,
      loadOf(times, 1, () => request),
    );
  const wall = (performance.now() - startedMs) / times;
  return { cpu: ((await cpuMs(target.pid)) - before) / times, wall };
}

async function showMemory(what: string, servers: readonly Server[]): Promise<void> {
  const cells = await Promise.all(servers.map(async ({ target }) => (await pssMiB(target.pid)).toFixed(0)));
  printRow([what, ...cells]);
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

await main();

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { boundedMemoryFlags } from '../../src/base/bounded-memory/index.ts';
import { Fleet } from '../apiserver/renewals.ts';
import { printRow } from '../report.ts';
import type { Cluster } from './cluster.ts';
import { measureAll, startServers } from './servers.ts';

/** What V8 writes, as far as it is read here. */
interface Profile {
  readonly nodes: readonly Node[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface Node {
  readonly id: number;
  readonly callFrame: Frame;
  readonly children?: readonly number[];
}

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** Where time goes: the first that fits the file of the innermost function that is not Node's. */
const places: readonly (readonly [RegExp, string])[] = [
  [/@bufbuild\/protobuf|storage\/etcd\/gen\//, 'etcd: protobuf'],
  [/storage\/etcd\/(unary-call|grpc-|frames|connection|client|gate)/, 'etcd: calls over HTTP/2'],
  [
    /storage\/etcd\/(watch|follower|values|key-map|published)|storage\/(feed|recent)/,
    'etcd: following the watch',
  ],
  [/storage\/etcd\//, 'etcd: store, order of answers'],
  [/storage\/cache\//, 'cache'],
  [/node_modules\/|apiserver\/http\//, 'HTTP: framework, routes, replies'],
  [/apiserver\/|\/api\//, 'API: decoding, validation, registry, access'],
  [/\/src\//, 'other code of ours'],
];

const internals: readonly (readonly [RegExp, string])[] = [
  [/node:internal\/http2/, 'etcd: HTTP/2, by itself'],
  [/node:/, 'HTTP: sockets, TLS, parser, by themselves'],
];

/** A server under load, and where its event loop spends its time. */
export async function profileRenewals(cluster: Cluster, quick: boolean): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'nodeward-bench-profile-'));
  const count = quick ? 10_000 : 40_000;
  try {
    const options = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-interval=500'];
    {
      await using servers = await startServers(1, cluster, '/profile', [...boundedMemoryFlags, ...options]);
      const fleet = new Fleet(1_024);
      await fleet.join(servers.first);
      await measureAll(servers, fleet.renewals(count, 64), cluster.pids);
    }
    for (const name of await readdir(folder)) await tell(join(folder, name));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function tell(file: string): Promise<void> {
  const profile: Profile = JSON.parse(await readFile(file, 'utf8'));
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const maps = await sourceMapsOf(profile);
  const spent = new Map<number, number>();
  for (const [index, id] of profile.samples.entries()) {
    spent.set(id, (spent.get(id) ?? 0) + (profile.timeDeltas[index] ?? 0));
  }
  const places = new Map<string, number>();
  const functions = new Map<string, number>();
  for (const [id, time] of spent) {
    const stack: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = nodes.get(at)?.callFrame;
      if (frame !== undefined) stack.push(original(frame, maps));
    }
    const place = placeOf(stack);
    if (place === undefined) continue;
    places.set(place, (places.get(place) ?? 0) + time);
    const [self] = stack;
    const name = `${self?.functionName || '(anonymous)'} ${self?.url.split('/').slice(-2).join('/') ?? ''}`;
    functions.set(name, (functions.get(name) ?? 0) + time);
  }
  print('busy time of the event loop', places, 20);
  print('functions, by themselves', functions, 40);
}

/** Undefined: it waits. */
function placeOf(stack: readonly Frame[]): string | undefined {
  const [self] = stack;
  if (self === undefined || self.functionName === '(idle)') return undefined;
  if (self.functionName === '(garbage collector)') return 'garbage collector';
  for (const { url } of stack) {
    const place = url.startsWith('node:') ? undefined : places.find(([pattern]) => pattern.test(url));
    if (place !== undefined) return place[1];
  }
  for (const { url } of stack) {
    const place = internals.find(([pattern]) => pattern.test(url));
    if (place !== undefined) return place[1];
  }
  return 'Node itself: event loop, system calls';
}

async function sourceMapsOf({ nodes }: Profile): Promise<ReadonlyMap<string, SourceMap>> {
  const maps = new Map<string, SourceMap>();
  const urls = new Set(nodes.map(({ callFrame }) => callFrame.url).filter((url) => url.startsWith('file:')));
  for (const url of urls) {
    const text = await readFile(`${fileURLToPath(url)}.map`, 'utf8').catch(() => undefined);
    if (text !== undefined) maps.set(url, new SourceMap(JSON.parse(text)));
  }
  return maps;
}

/** Where the function stands in the source. */
function original(frame: Frame, maps: ReadonlyMap<string, SourceMap>): Frame {
  const entry = maps.get(frame.url)?.findEntry(frame.lineNumber, frame.columnNumber);
  if (entry === undefined || !('originalSource' in entry)) return frame;
  return { ...frame, url: join(dirname(frame.url), entry.originalSource) };
}

function print(title: string, times: ReadonlyMap<string, number>, most: number): void {
  const all = [...times.values()].reduce((sum, each) => sum + each, 0);
  printRow([title, 'share']);
  for (const [name, time] of [...times].sort(([, a], [, b]) => b - a).slice(0, most)) {
    printRow([`  ${name}`, `${((100 * time) / all).toFixed(1)} %`]);
  }
}

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { EtcdTls } from '../../src/apiserver/storage/etcd/index.ts';
import { makeEtcdCertificates } from '../../test/integration/lab/etcd-certificates.ts';
import { fetched } from '../../test/integration/lab/index.ts';

/** An etcd of this benchmark, over TLS with client certificates, its data on the disk of the folder for temporary files. */
export interface Cluster extends AsyncDisposable {
  readonly urls: readonly string[];
  readonly pids: readonly number[];
  readonly tls: EtcdTls;
  /** What the first member counts. */
  counters(): Promise<Counters>;
}

/** Since the start of a member. */
export interface Counters {
  /** Requests that read, or write, and not watches. */
  readonly ranges: number;
  readonly transactions: number;
  /** Syncs of the write-ahead log, and commits of the database, which are synced too. */
  readonly logSyncs: number;
  readonly commits: number;
  /** Bytes that went to the block devices, of all members. */
  readonly writtenBytes: number;
  /** Of the database's file, and of that what is in use. */
  readonly databaseBytes: number;
  readonly usedBytes: number;
}

interface Place {
  readonly name: string;
  readonly client: number;
  readonly peer: number;
  readonly metrics: number;
}

/** Starts the laboratory's etcd, without the proxies that tests have in front of it. */
export async function startCluster(members: 1 | 3): Promise<Cluster> {
  await using setup = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'nodeward-bench-etcd-'));
  setup.defer(() => rm(folder, { recursive: true, force: true }));
  const certificates = await makeEtcdCertificates(folder);
  const places: Place[] = [];
  for (let index = 0; index < members; index++) {
    const [client, peer, metrics] = [await port(), await port(), await port()];
    places.push({ name: `m${index}`, client, peer, metrics });
  }
  const peers = places.map(({ name, peer }) => `${name}=http://127.0.0.1:${peer}`).join(',');
  const trust = [
    ...['--client-cert-auth', '--trusted-ca-file', certificates.caFile],
    ...['--cert-file', certificates.serverCertFile, '--key-file', certificates.serverKeyFile],
  ];
  const children = places.map((place) =>
    setup.adopt(start(place, [...trust, '--initial-cluster', peers], folder), stop),
  );
  for (const { metrics } of places) await healthy(metrics);
  const pids = children.map(({ pid = 0 }) => pid);
  const started = setup.move();
  return {
    urls: places.map(({ client }) => `https://127.0.0.1:${client}`),
    pids,
    tls: certificates,
    counters: () => countersOf(places[0]?.metrics ?? 0, pids),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

function start(
  { name, client, peer, metrics }: Place,
  more: readonly string[],
  folder: string,
): ChildProcess {
  const own = (kind: string, scheme: string, number: number) => [
    `--listen-${kind}-urls`,
    `${scheme}://127.0.0.1:${number}`,
  ];
  const args = [
    ...['--name', name, '--data-dir', join(folder, name), '--log-level', 'error'],
    ...own('client', 'https', client),
    ...['--advertise-client-urls', `https://127.0.0.1:${client}`],
    ...own('peer', 'http', peer),
    ...['--initial-advertise-peer-urls', `http://127.0.0.1:${peer}`],
    ...own('metrics', 'http', metrics),
    ...['--metrics', 'extensive', '--enable-grpc-gateway=false', ...more],
  ];
  const child = spawn(fetched('tools/bin/etcd'), args, { stdio: ['ignore', 'ignore', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL')); // also when the benchmark fails in the middle
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function port(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}

async function healthy(metrics: number): Promise<void> {
  const untilMs = performance.now() + 30_000;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${metrics}/health`).catch(() => undefined);
    const text = (await answer?.text()) ?? '';
    if (text.includes('"health":"true"')) return;
    if (performance.now() > untilMs) throw new Error(`etcd does not serve: ${text}`);
    await delay(50);
  }
}

async function countersOf(metrics: number, pids: readonly number[]): Promise<Counters> {
  const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  const read = (name: string, labels = '') => {
    const line = text.split('\n').find((each) => each.startsWith(name) && each.includes(labels));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  const handled = (method: string) =>
    read('grpc_server_handled_total{grpc_code="OK"', `grpc_method="${method}"`);
  return {
    ranges: handled('Range'),
    transactions: handled('Txn'),
    logSyncs: read('etcd_disk_wal_fsync_duration_seconds_count'),
    commits: read('etcd_disk_backend_commit_duration_seconds_count'),
    writtenBytes: (await Promise.all(pids.map(writtenBytes))).reduce((sum, each) => sum + each, 0),
    databaseBytes: read('etcd_mvcc_db_total_size_in_bytes'),
    usedBytes: read('etcd_mvcc_db_total_size_in_use_in_bytes'),
  };
}

async function writtenBytes(pid: number): Promise<number> {
  const io = await readFile(`/proc/${pid}/io`, 'utf8');
  return Number(/^write_bytes: (\d+)$/m.exec(io)?.[1]);
}

import type { Target } from '../apiserver/connection.ts';
import type { Load, Measured } from '../apiserver/load.ts';
import { measure } from '../apiserver/load.ts';
import { pssMiB } from '../apiserver/process-cost.ts';
import type { Server } from '../apiserver/server.ts';
import { startServer } from '../apiserver/server.ts';
import type { Cluster } from './cluster.ts';

/** Several control planes on one etcd, with one authority. */
export interface Servers extends AsyncDisposable {
  readonly all: readonly Server[];
  readonly first: Target;
}

/** Starts so many, each with what this prefix holds. */
export async function startServers(
  count: number,
  { urls, tls }: Cluster,
  prefix: string,
  nodeOptions?: readonly string[],
): Promise<Servers> {
  await using setup = new AsyncDisposableStack();
  const args = [
    ...['--storage', 'etcd', '--etcd-servers', urls.join(','), '--etcd-prefix', prefix],
    ...['--etcd-cafile', tls.caFile ?? ''],
    ...['--etcd-certfile', tls.certFile ?? '', '--etcd-keyfile', tls.keyFile ?? ''],
  ];
  const first = setup.use(await startServer(nodeOptions, { args }));
  const all = [first];
  while (all.length < count) all.push(setup.use(await startServer(nodeOptions, { args, beside: first })));
  const started = setup.move();
  return { all, first: first.target, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

/** What a load costs the servers together, and etcd. */
export interface Cost extends Measured {
  /** Of all members. */
  etcdCpuMs: number;
  /** Of each server, MiB. */
  pss: readonly number[];
}

/** Hands the connections to the servers in turn. CPU is that of all servers together. */
export async function measureAll({ all }: Servers, load: Load, etcd: readonly number[] = []): Promise<Cost> {
  const [first, ...others] = all.map(({ target }) => target);
  if (first === undefined) throw new Error('there is no server');
  const targets = Array.from({ length: load.connections }, (_, at) => all[at % all.length]?.target ?? first);
  const pids = [...others.map(({ pid }) => pid), ...etcd];
  const measured = await measure(first, { ...load, targets, others: pids });
  const cpu = measured.othersCpuMs;
  return {
    ...measured,
    cpuMs: sum([measured.cpuMs, ...cpu.slice(0, others.length)]),
    etcdCpuMs: sum(cpu.slice(others.length)),
    pss: await Promise.all(all.map(({ target }) => pssMiB(target.pid))),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((all, each) => all + each, 0);
}

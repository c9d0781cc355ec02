import { join } from 'node:path';
import type { SupervisedProcess } from '../../support/index.ts';
import { freePort, startProcess, temporaryFolder, waitFor } from '../../support/index.ts';
import type { EtcdCertificates } from './etcd-certificates.ts';
import { makeEtcdCertificates } from './etcd-certificates.ts';
import { fetched } from './folder.ts';
import type { TcpProxy } from './tcp-proxy.ts';
import { startTcpProxy } from './tcp-proxy.ts';

export interface EtcdOptions {
  /** Default 1. */
  members?: 1 | 3;
  /** Serves over TLS and wants a client certificate; default false. */
  tls?: boolean;
  /** Further arguments of every member. */
  argv?: readonly string[];
}

/** One member, reached by way of its proxy. */
export interface EtcdMember {
  readonly name: string;
  /** Of the proxy: what clients are given. */
  readonly url: string;
  /** Cuts off or slows clients of this member. */
  readonly proxy: TcpProxy;
  /** Cuts this member off from the others, as far as they dial it: an election follows when it led. */
  readonly peers: TcpProxy;
  readonly pid: number;
  /** What it logged since it was last started. */
  readonly log: string;
  /** SIGKILL. */
  kill9(): Promise<void>;
  /** SIGTERM. */
  stop(): Promise<void>;
  /** Starts it again after `kill9` or `stop`, with the data it had. */
  start(): Promise<void>;
  /** It hangs: connections stay, nothing is answered. */
  freeze(): void;
  thaw(): void;
  /** Its folder of data. */
  readonly data: string;
}

/** An etcd of the test's own on the loopback, with its data on disk. Disposal ends all members and removes the data. */
export interface LabEtcd extends AsyncDisposable {
  readonly members: readonly EtcdMember[];
  /** Of all members. */
  readonly urls: readonly string[];
  readonly certificates: EtcdCertificates | undefined;
}

/** Starts a real etcd and resolves when every member serves. */
export async function startEtcd(options: EtcdOptions = {}): Promise<LabEtcd> {
  const { members: count = 1, tls = false, argv = [] } = options;
  await using setup = new AsyncDisposableStack();
  const { path: folder } = setup.use(await temporaryFolder('etcd-'));
  const certificates = tls ? await makeEtcdCertificates(folder) : undefined;
  const places: Place[] = [];
  for (let index = 0; index < count; index++) places.push(await placeOf(`m${index}`, folder, setup));
  const cluster = places.map(({ name, peers }) => `${name}=http://127.0.0.1:${peers.port}`).join(',');
  const members = places.map((place) => memberOf(place, cluster, certificates, argv, setup));
  await Promise.all(members.map((member) => member.start()));
  const urls = members.map(({ url }) => url);
  const started = setup.move();
  return { members, urls, certificates, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

interface Place {
  readonly name: string;
  readonly data: string;
  readonly clientPort: number;
  readonly peerPort: number;
  readonly proxy: TcpProxy;
  readonly peers: TcpProxy;
}

async function placeOf(name: string, folder: string, setup: AsyncDisposableStack): Promise<Place> {
  const [clientPort, peerPort] = [await freePort(), await freePort()];
  const proxy = setup.use(await startTcpProxy(clientPort));
  const peers = setup.use(await startTcpProxy(peerPort));
  return { name, data: join(folder, name), clientPort, peerPort, proxy, peers };
}

function memberOf(
  place: Place,
  cluster: string,
  certificates: EtcdCertificates | undefined,
  argv: readonly string[],
  setup: AsyncDisposableStack,
): EtcdMember {
  const { name, data, proxy, peers } = place;
  const scheme = certificates === undefined ? 'http' : 'https';
  const url = `${scheme}://127.0.0.1:${proxy.port}`;
  let child: SupervisedProcess | undefined;
  const running = (): SupervisedProcess => {
    if (child === undefined) throw new Error(`etcd ${name} does not run`);
    return child;
  };
  setup.defer(async () => {
    child?.signal('SIGCONT');
    await child?.kill9();
  });
  return {
    name,
    url,
    proxy,
    peers,
    data,
    get pid() {
      return running().pid;
    },
    get log() {
      return running().stderr;
    },
    async kill9() {
      await running().kill9();
    },
    async stop() {
      await running().stop();
    },
    async start() {
      const flags = flagsOf(place, scheme, cluster, certificates);
      child = await startProcess(fetched('tools/bin/etcd'), [...flags, ...argv], { graceMs: 10_000 });
      const started = child;
      await waitFor(
        `etcd ${name} to serve`,
        () => {
          if (started.exit !== undefined)
            throw new Error(`etcd ${name} has ended: ${started.stderr.slice(-2000)}`);
          return /ready to serve client requests/.test(started.stderr);
        },
        { timeoutMs: 60_000 },
      );
    },
    freeze: () => running().signal('SIGSTOP'),
    thaw: () => running().signal('SIGCONT'),
  };
}

function flagsOf(
  { name, data, clientPort, peerPort, proxy, peers }: Place,
  scheme: string,
  cluster: string,
  certificates: EtcdCertificates | undefined,
): readonly string[] {
  const trust =
    certificates === undefined
      ? []
      : [
          '--client-cert-auth',
          '--enable-grpc-gateway=false', // it would be a client with the server's certificate
          ...['--trusted-ca-file', certificates.caFile],
          ...['--cert-file', certificates.serverCertFile],
          ...['--key-file', certificates.serverKeyFile],
        ];
  return [
    ...['--name', name, '--data-dir', data, '--logger', 'zap', '--log-level', 'info'],
    ...['--listen-client-urls', `${scheme}://127.0.0.1:${clientPort}`],
    ...['--advertise-client-urls', `${scheme}://127.0.0.1:${proxy.port}`],
    ...['--listen-peer-urls', `http://127.0.0.1:${peerPort}`],
    ...['--initial-advertise-peer-urls', `http://127.0.0.1:${peers.port}`],
    ...['--initial-cluster', cluster, '--max-request-bytes', String(2 * 1024 * 1024)],
    ...trust,
  ];
}

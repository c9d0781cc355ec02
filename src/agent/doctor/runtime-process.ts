import { basename } from 'node:path';
import { defaultEndpoints, parseEndpoint } from '../runtime/index.ts';
import type { Host } from './host.ts';

/** The process that serves a runtime's socket. Its environment decides where it finds programs and leaves files. */
export interface RuntimeProcess {
  readonly pid: number;
  readonly name: string;
  readonly env: ReadonlyMap<string, string>;
  readonly socket: string;
  /** All its user ids: real, effective, saved and that for files. */
  readonly users: readonly number[];
}

/** Bounds the search; a machine has fewer. */
const maxProcesses = 65_536;

/**
 * The process that serves `endpoint`, or else the first default endpoint that is served. Undefined where there is none,
 * and where it belongs to another user, whose processes are hidden.
 */
export function findRuntimeProcess(host: Host, endpoint: string | undefined): RuntimeProcess | undefined {
  const endpoints = endpoint === undefined ? defaultEndpoints : [endpoint];
  const endpointServed = endpoints.find((each) => findListenerInode(host, each) !== undefined);
  const inode = endpointServed && findListenerInode(host, endpointServed);
  if (endpointServed === undefined || inode === undefined) return undefined;
  const pid = findHolder(host, [inode]);
  if (pid === undefined) return undefined;
  const environment = host.read(`/proc/${pid}/environ`) ?? '';
  const pairs = environment.split('\0').flatMap((text): [string, string][] => {
    const at = text.indexOf('=');
    return at > 0 ? [[text.slice(0, at), text.slice(at + 1)]] : [];
  });
  const socket = parseEndpoint(endpointServed);
  return {
    pid,
    name: readProcessName(host, pid),
    env: new Map(pairs),
    socket,
    users: readUserIds(host, pid),
  };
}

/**
 * Whether the process really is the runtime. Any user can serve a socket at any path in a mount namespace of their own,
 * and the kernel lists it like the real one. So the process must belong to root or to this user, and the socket's path
 * must be the same file for it as for this process.
 */
export async function isGenuine(
  host: Host,
  { pid, socket, users }: RuntimeProcess,
  signal: AbortSignal,
): Promise<boolean> {
  if (users.length === 0 || users.some((user) => user !== 0 && user !== host.user)) return false;
  const [here, there] = await Promise.all(
    [socket, `/proc/${pid}/root${socket}`].map((path) => host.inspectPath({ path }, signal)),
  );
  if (here === undefined || there === undefined || !('found' in here && 'found' in there)) return false;
  return here.found.dev === there.found.dev && here.found.ino === there.found.ino;
}

function readUserIds(host: Host, pid: number): number[] {
  const found = /^Uid:\s+([\d\s]+)$/m.exec(host.read(`/proc/${pid}/status`) ?? '')?.[1] ?? '';
  return found.split(/\s+/).filter(Boolean).map(Number);
}

/** Lines are `Num RefCount Protocol Flags Type St Inode Path`; the flag 00010000 is a listener. */
function findListenerInode(host: Host, endpoint: string): string | undefined {
  const path = parseEndpoint(endpoint);
  const lines = (host.read('/proc/net/unix') ?? '').split('\n');
  const fields = lines.map((line) => line.trim().split(/\s+/));
  const atPath = fields.filter(([, , , , , , , place]) => place === path || isSameRunPath(place, path));
  return atPath.find(([, , , flags]) => flags === '00010000')?.[6];
}

/** /var/run is a link to /run. */
function isSameRunPath(a: string | undefined, b: string): boolean {
  return a !== undefined && a.replace(/^\/var\/run\//, '/run/') === b.replace(/^\/var\/run\//, '/run/');
}

/** The first process that has one of these sockets open. Other users' processes are found by root only. */
export function findHolder(host: Host, inodes: readonly string[]): number | undefined {
  const wanted = new Set(inodes.map((inode) => `socket:[${inode}]`));
  const pids = host
    .names('/proc')
    .filter((name) => /^\d+$/.test(name))
    .slice(0, maxProcesses);
  const holder = pids.find((pid) =>
    host.names(`/proc/${pid}/fd`).some((fd) => wanted.has(host.link(`/proc/${pid}/fd/${fd}`) ?? '')),
  );
  return holder === undefined ? undefined : Number(holder);
}

/** The program's name; empty where the process has ended. */
export function readProcessName(host: Host, pid: number): string {
  const program = (host.read(`/proc/${pid}/cmdline`) ?? '').split('\0')[0] ?? '';
  return basename(program) || (host.read(`/proc/${pid}/comm`)?.trim() ?? '');
}

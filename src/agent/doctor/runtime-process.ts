import { basename } from 'node:path';
import { defaultEndpoints, parseEndpoint } from '../runtime/index.ts';
import type { Host } from './host.ts';

/** The process that serves a socket, with what of its environment decides where it finds and leaves things. */
export interface RuntimeProcess {
  readonly pid: number;
  readonly name: string;
  readonly env: ReadonlyMap<string, string>;
  /** The path of its socket. */
  readonly socket: string;
  /** Whose process it is: all user ids that it has. */
  readonly users: readonly number[];
}

/** More processes than a machine has are not gone through. */
const processesLimit = 65_536;

/** Of an endpoint, or of the first usual one that is served. Undefined where there is none, or it is another user's. */
export function runtimeProcess(host: Host, endpoint: string | undefined): RuntimeProcess | undefined {
  const endpoints = endpoint === undefined ? defaultEndpoints : [endpoint];
  const endpointServed = endpoints.find((each) => listenerInode(host, each) !== undefined);
  const inode = endpointServed && listenerInode(host, endpointServed);
  if (endpointServed === undefined || inode === undefined) return undefined;
  const pid = holderOf(host, [inode]);
  if (pid === undefined) return undefined;
  const environment = host.read(`/proc/${pid}/environ`) ?? '';
  const pairs = environment.split('\0').flatMap((text): [string, string][] => {
    const at = text.indexOf('=');
    return at > 0 ? [[text.slice(0, at), text.slice(at + 1)]] : [];
  });
  const socket = parseEndpoint(endpointServed);
  return { pid, name: nameOf(host, pid), env: new Map(pairs), socket, users: usersOf(host, pid) };
}

/**
 * Whether it is what it seems. Anybody can serve a socket of any path in a file system of their own, and it is told like
 * the real one; so the process must be root's or the caller's own, and see the same file where its socket is.
 */
export async function isGenuine(
  host: Host,
  { pid, socket, users }: RuntimeProcess,
  signal: AbortSignal,
): Promise<boolean> {
  if (users.length === 0 || users.some((user) => user !== 0 && user !== host.user)) return false;
  const [here, there] = await Promise.all(
    [socket, `/proc/${pid}/root${socket}`].map((path) => host.look({ path }, signal)),
  );
  if (here === undefined || there === undefined || !('found' in here && 'found' in there)) return false;
  return here.found.dev === there.found.dev && here.found.ino === there.found.ino;
}

/** Real, effective, saved and that for files. */
function usersOf(host: Host, pid: number): number[] {
  const found = /^Uid:\s+([\d\s]+)$/m.exec(host.read(`/proc/${pid}/status`) ?? '')?.[1] ?? '';
  return found.split(/\s+/).filter(Boolean).map(Number);
}

/** `Num RefCount Protocol Flags Type St Inode Path`; the flag 00010000 is a listener. */
function listenerInode(host: Host, endpoint: string): string | undefined {
  const path = parseEndpoint(endpoint);
  const lines = (host.read('/proc/net/unix') ?? '').split('\n');
  const fields = lines.map((line) => line.trim().split(/\s+/));
  const named = fields.filter(([, , , , , , , place]) => place === path || sameRun(place, path));
  return named.find(([, , , flags]) => flags === '00010000')?.[6];
}

/** /var/run is a link to /run. */
function sameRun(a: string | undefined, b: string): boolean {
  return a !== undefined && a.replace(/^\/var\/run\//, '/run/') === b.replace(/^\/var\/run\//, '/run/');
}

/** The first process that has one of these sockets open; of another user's processes that is hidden. */
export function holderOf(host: Host, inodes: readonly string[]): number | undefined {
  const wanted = new Set(inodes.map((inode) => `socket:[${inode}]`));
  const pids = host
    .names('/proc')
    .filter((name) => /^\d+$/.test(name))
    .slice(0, processesLimit);
  const holder = pids.find((pid) =>
    host.names(`/proc/${pid}/fd`).some((fd) => wanted.has(host.link(`/proc/${pid}/fd/${fd}`) ?? '')),
  );
  return holder === undefined ? undefined : Number(holder);
}

/** The program's name; empty where the process has gone. */
export function nameOf(host: Host, pid: number): string {
  const program = (host.read(`/proc/${pid}/cmdline`) ?? '').split('\0')[0] ?? '';
  return basename(program) || (host.read(`/proc/${pid}/comm`)?.trim() ?? '');
}

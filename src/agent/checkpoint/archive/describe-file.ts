/** Describes open files. The numbers are criu's, and Linux's for the kinds and states of sockets. */
import { isIPv6 } from 'node:net';
import type { OpenFile } from './contents.ts';
import type { File, InetSocket, UnixSocket } from './gen/images_pb.js';

const kinds: Readonly<Record<number, string>> = {
  1: 'file',
  2: 'pipe',
  3: 'fifo',
  4: 'inet',
  5: 'unix',
  6: 'eventfd',
  7: 'eventpoll',
  8: 'inotify',
  9: 'signalfd',
  10: 'packet',
  11: 'tty',
  12: 'fanotify',
  13: 'netlink',
  14: 'namespace',
  15: 'tun',
  16: 'external',
  17: 'timerfd',
  18: 'memfd',
  19: 'bpf map',
  20: 'pidfd',
};

export const formatFileKind = (type: number): string => kinds[type] ?? `type ${type}`;

/** Everything but the number of the descriptor. */
export function describeFile(file: File): Omit<OpenFile, 'fd'> {
  const { regular, inet, unix, pipe, fifo, external } = file;
  const kind = formatFileKind(file.type);
  if (regular !== undefined) {
    return { kind, name: regular.name, mode: formatMode(regular.flags), position: Number(regular.position) };
  }
  if (inet !== undefined) return describeInetSocket(inet);
  if (unix !== undefined) return describeUnixSocket(unix);
  if (pipe !== undefined) return { kind, name: `pipe:[${pipe.pipe}]`, mode: formatMode(pipe.flags) };
  if (fifo !== undefined) return { kind, name: `pipe:[${fifo.pipe}]` };
  if (external !== undefined) return { kind, name: `external:[${external.id}]` };
  return { kind, name: '' };
}

/** The lowest two bits of open(2)'s flags. */
const formatMode = (flags: number): string => ['r', 'w', 'rw', 'rw'][flags & 3] ?? '';

const tcpStates = [
  'ESTABLISHED',
  'SYN_SENT',
  'SYN_RECV',
  'FIN_WAIT1',
  'FIN_WAIT2',
  'TIME_WAIT',
  'CLOSE',
  'CLOSE_WAIT',
  'LAST_ACK',
  'LISTEN',
  'CLOSING',
];
const protocols: Readonly<Record<number, string>> = {
  1: 'icmp',
  6: 'tcp',
  17: 'udp',
  58: 'icmp6',
  132: 'sctp',
};

const formatSocketState = (state: number): string => tcpStates[state - 1] ?? `state ${state}`;

function describeInetSocket(socket: InetSocket): Omit<OpenFile, 'fd'> {
  const { family, state, protocol, remotePort } = socket;
  const local = formatEndpoint(family, socket.local, socket.localPort);
  const remote = remotePort === 0 ? undefined : formatEndpoint(family, socket.remote, remotePort);
  return {
    kind: protocols[protocol] ?? 'inet',
    name: remote === undefined ? local : `${local} -> ${remote}`,
    state: formatSocketState(state),
    local,
    ...(remote === undefined ? {} : { remote }),
  };
}

const inet6 = 10;

function formatEndpoint(family: number, words: readonly number[], port: number): string {
  const bytes = Buffer.alloc(16);
  for (const [at, word] of words.slice(0, 4).entries()) bytes.writeUInt32LE(word >>> 0, at * 4);
  if (family !== inet6) return `${bytes.subarray(0, 4).join('.')}:${port}`;
  return `[${compressIpv6(bytes)}]:${port}`;
}

/** An address of IPv6 with its longest run of zeros left out (RFC 5952). */
function compressIpv6(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16));
  const full = groups.join(':');
  const runs = [...full.matchAll(/\b0(?::0)+\b/g)].sort((a, b) => b[0].length - a[0].length);
  const zeros = runs[0];
  if (zeros === undefined) return full;
  const before = full.slice(0, zeros.index).replace(/:$/, '');
  const after = full.slice(zeros.index + zeros[0].length).replace(/^:/, '');
  const short = `${before}::${after}`;
  return isIPv6(short) ? short : full;
}

const unixTypes: Readonly<Record<number, string>> = { 1: 'stream', 2: 'datagram', 5: 'packets' };

function describeUnixSocket({ name, peer, inode, type, state }: UnixSocket): Omit<OpenFile, 'fd'> {
  const text = Buffer.from(name).toString('utf8');
  const path = text.startsWith('\0') ? `@${text.slice(1)}` : text;
  const bound = path.replace(/\0.*$/s, '');
  return {
    kind: 'unix',
    name: bound === '' ? `${unixTypes[type] ?? 'socket'}:[${inode}]` : bound,
    state: formatSocketState(state),
    ...(bound === '' ? {} : { local: bound }),
    ...(peer === 0 ? {} : { remote: `[${peer}]` }),
  };
}

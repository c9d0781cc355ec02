import { InvalidArgumentError, Option } from 'commander';
import type { ApiServerOptions } from '../../apiserver/index.ts';
import { ExitError, exitCodes, parseDuration } from '../../base/index.ts';
import { filePath } from './flags.ts';

/** Where objects are kept with `--storage etcd`, as flags; named as the reference's. */
export interface EtcdFlags {
  etcdServers?: string[];
  etcdPrefix?: string;
  etcdCafile?: string;
  etcdCertfile?: string;
  etcdKeyfile?: string;
  /** Milliseconds. */
  etcdCompactionInterval?: number;
}

export const etcdOptions = () => [
  new Option(
    '--etcd-servers <urls>',
    'members of the etcd cluster, parted by commas: https://HOST:2379; for --storage etcd',
  ).argParser(etcdServers),
  new Option('--etcd-prefix <path>', 'what all keys in etcd begin with (default: /registry)').argParser(
    etcdPrefix,
  ),
  new Option(
    '--etcd-cafile <file>',
    "authorities that sign etcd's certificates (default: the system's)",
  ).argParser(filePath),
  new Option('--etcd-certfile <file>', 'certificate with which etcd lets this server in').argParser(filePath),
  new Option('--etcd-keyfile <file>', 'its key').argParser(filePath),
  new Option(
    '--etcd-compaction-interval <duration>',
    'how long history is kept in etcd at least, by one of all servers; 0s: it is not compacted (default: 5m)',
  ).argParser(compactionInterval),
];

const address = /^https?:\/\/[^/@\s]+\/?$/;

type WithStorage = EtcdFlags & { storage: string };

/** Undefined for another storage. Throws an ExitError when flags do not go together. */
export function etcdOf(flags: WithStorage): ApiServerOptions['etcd'] {
  const { etcdServers: servers, etcdCafile: caFile, etcdCertfile: certFile, etcdKeyfile: keyFile } = flags;
  if (flags.storage !== 'etcd') {
    const given = Object.keys(flags).some((name) => name.startsWith('etcd'));
    if (given) throw misused('the flags of etcd need --storage etcd');
    return undefined;
  }
  if (servers === undefined) throw misused('--storage etcd needs --etcd-servers');
  if (servers.length > 20 || !servers.every((server) => address.test(server))) {
    throw misused('--etcd-servers takes addresses like https://HOST:2379, parted by commas, at most 20');
  }
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw misused('--etcd-certfile and --etcd-keyfile need each other');
  }
  const files = [caFile, certFile, keyFile].some((file) => file !== undefined);
  if (files && servers.some((server) => !server.startsWith('https:'))) {
    throw misused('certificates for etcd need servers that begin with https://');
  }
  const { etcdPrefix: prefix, etcdCompactionInterval: compactionIntervalMs } = flags;
  return { servers, prefix, tls: { caFile, certFile, keyFile }, compactionIntervalMs };
}

function misused(message: string): ExitError {
  return new ExitError(exitCodes.usage, message);
}

/** Checked later: what refuses the value of an option repeats it, and a password may stand in it. */
function etcdServers(text: string): string[] {
  return [...new Set(text.split(',').map((server) => server.trim()))];
}

function etcdPrefix(text: string): string {
  if (/^(\/[\w.-]+)+\/?$/.test(text) && text.length <= 256) return text;
  throw new InvalidArgumentError('It must be a path like /registry.');
}

function compactionInterval(text: string): number {
  const ms = Number(parseDuration(text) ?? -1n) / 1e6;
  if (ms === 0 || (ms >= 10_000 && ms <= 24 * 3600_000)) return ms;
  throw new InvalidArgumentError('It must be 0s or a duration from 10s to 24h, such as 5m.');
}

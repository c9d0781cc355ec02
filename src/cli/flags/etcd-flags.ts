import { InvalidArgumentError, Option } from 'commander';
import type { ApiServerOptions } from '../../apiserver/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import { parseFilePath, parseMilliseconds } from './values.ts';

/** The flags of `--storage etcd`, named like those of kube-apiserver. */
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
    'members of the etcd cluster, separated by commas: https://HOST:2379; for --storage etcd',
  ).argParser(parseServers),
  new Option('--etcd-prefix <path>', 'prefix of all keys in etcd (default: /registry)').argParser(
    parsePrefix,
  ),
  new Option(
    '--etcd-cafile <file>',
    "authorities that sign etcd's certificates (default: the system's)",
  ).argParser(parseFilePath),
  new Option('--etcd-certfile <file>', 'client certificate for etcd').argParser(parseFilePath),
  new Option('--etcd-keyfile <file>', 'key of the client certificate').argParser(parseFilePath),
  new Option(
    '--etcd-compaction-interval <duration>',
    'min time that history is kept in etcd; one of all servers compacts it; 0s: never (default: 5m)',
  ).argParser(parseCompactionInterval),
];

const serverAddress = /^https?:\/\/[^/@\s]+\/?$/;

type WithStorage = EtcdFlags & { storage: string };

/** Undefined for another storage. Throws an ExitError for flags that exclude each other. */
export function readEtcdFlags(flags: WithStorage): ApiServerOptions['etcd'] {
  const { etcdServers: servers, etcdCafile: caFile, etcdCertfile: certFile, etcdKeyfile: keyFile } = flags;
  if (flags.storage !== 'etcd') {
    const given = Object.keys(flags).some((name) => name.startsWith('etcd'));
    if (given) throw usageError('the flags of etcd need --storage etcd');
    return undefined;
  }
  if (servers === undefined) throw usageError('--storage etcd needs --etcd-servers');
  if (servers.length > 20 || !servers.every((server) => serverAddress.test(server))) {
    throw usageError(
      '--etcd-servers takes addresses like https://HOST:2379, separated by commas, at most 20',
    );
  }
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw usageError('--etcd-certfile and --etcd-keyfile need each other');
  }
  const files = [caFile, certFile, keyFile].some((file) => file !== undefined);
  if (files && servers.some((server) => !server.startsWith('https:'))) {
    throw usageError('certificates for etcd need servers that begin with https://');
  }
  const { etcdPrefix: prefix, etcdCompactionInterval: compactionIntervalMs } = flags;
  return { servers, prefix, tls: { caFile, certFile, keyFile }, compactionIntervalMs };
}

function usageError(message: string): ExitError {
  return new ExitError(exitCodes.usage, message);
}

/** Checked later: the message about an invalid option value repeats the value, and a URL may contain a password. */
function parseServers(text: string): string[] {
  return [...new Set(text.split(',').map((server) => server.trim()))];
}

function parsePrefix(text: string): string {
  if (/^(\/[\w.-]+)+\/?$/.test(text) && text.length <= 256) return text;
  throw new InvalidArgumentError('It must be a path like /registry.');
}

function parseCompactionInterval(text: string): number {
  const ms = parseMilliseconds(text);
  if (ms === 0 || (ms >= 10_000 && ms <= 24 * 3600_000)) return ms;
  throw new InvalidArgumentError('It must be 0s or a duration from 10s to 24h, such as 5m.');
}

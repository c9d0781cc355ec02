import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { checkName, gateProblem, parseGates } from '../../api/index.ts';
import { ExitError, exitCodes, parseDuration } from '../../base/index.ts';

/** What `--storage` takes. */
export const storageKinds = ['sqlite', 'etcd', 'memory'] as const;
export type StorageKind = (typeof storageKinds)[number];

/** A TCP port; 0 lets the system choose. */
export function port(text: string): number {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value <= 65_535) return value;
  throw new InvalidArgumentError('It must be a port: a whole number from 0 to 65535.');
}

export function ipAddress(text: string): string {
  if (isIP(text) !== 0) return text;
  throw new InvalidArgumentError('It must be an IP address.');
}

/** Several, parted by commas. */
export function ipAddresses(text: string): string[] {
  return [...new Set(text.split(',').map((part) => ipAddress(part.trim())))];
}

/** A file or folder, made absolute. */
export function filePath(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  return resolve(text);
}

export function unixSocket(text: string): string {
  if (/^unix:\/\/\/./.test(text)) return text;
  throw new InvalidArgumentError('It must be a socket: unix:///absolute/path.');
}

/** At least a minute, at most a year: `1h`, `90m`. In milliseconds. */
export function timeToLive(text: string): number {
  const ms = Number(parseDuration(text) ?? -1n) / 1e6;
  if (ms >= 60_000 && ms <= 365 * 24 * 3600_000) return ms;
  throw new InvalidArgumentError('It must be a duration from 1m to 8760h, such as 1h or 90m.');
}

/** At least 10 s, at most a day. In milliseconds. */
export function historyWindow(text: string): number {
  const ms = Number(parseDuration(text) ?? -1n) / 1e6;
  if (ms >= 10_000 && ms <= 24 * 3600_000) return ms;
  throw new InvalidArgumentError('It must be a duration from 10s to 24h, such as 5m.');
}

/** `256Mi`: at least a mebibyte, at most a tebibyte. In bytes. */
export function historyBytes(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,13})(Ki|Mi|Gi|Ti)?$/.exec(text) ?? [];
  const bytes = Number(digits ?? -1) * 1024 ** ['', 'Ki', 'Mi', 'Gi', 'Ti'].indexOf(unit);
  if (bytes >= 1024 ** 2 && bytes <= 1024 ** 4) return bytes;
  throw new InvalidArgumentError('It must be a size from 1Mi to 1Ti, such as 256Mi.');
}

/** From 1 to 10,000. */
export function requestCount(text: string): number {
  const count = Number(text);
  if (/^\d{1,5}$/.test(text) && count >= 1 && count <= 10_000) return count;
  throw new InvalidArgumentError('It must be a whole number from 1 to 10000.');
}

export function trueOrFalse(text: string): boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw new InvalidArgumentError('It must be true or false.');
}

export function domain(text: string): string {
  const wrong = checkName('subdomain', text);
  if (wrong === undefined) return text;
  throw new InvalidArgumentError(`It must be a domain: ${wrong}.`);
}

/** `A=true,B=false`; given again, it adds to what was given before. */
export function featureGates(text: string, before: Record<string, boolean> = {}): Record<string, boolean> {
  const gates = parseGates(text);
  if (typeof gates === 'string') throw new InvalidArgumentError(`It must be A=true,B=false; ${gates}.`);
  return { ...before, ...Object.fromEntries(gates) };
}

/** Throws an ExitError with everything that is wrong with the gates that were asked for. */
export function checkGates(asked: Readonly<Record<string, boolean>>): void {
  const problems = Object.entries(asked).flatMap(([name, on]) => gateProblem(name, on) ?? []);
  if (problems.length === 0) return;
  throw new ExitError(
    exitCodes.configuration,
    `the value of --feature-gates cannot be used: ${problems.join('; ')}`,
  );
}

/** Used by every command that has features to switch. */
export const featureGatesOption = () =>
  new Option(
    '--feature-gates <A=true,B=false>',
    'features to switch on or off; may be given repeatedly',
  ).argParser(featureGates);

export const rootDirOption = () =>
  new Option('--root-dir <dir>', 'folder for everything that is kept')
    .default('/var/lib/nodeward')
    .argParser(filePath);
export const logOptions = () => [
  new Option(
    '--log-format <format>',
    'how log lines are written (default: text on a terminal, else json)',
  ).choices(['json', 'text']),
  new Option('-v, --verbose', 'log what is only of interest when something is wrong'),
];
/** The flags of the control plane, whether it runs apart or embedded. */
export const controlPlaneOptions = () => [
  new Option('--group-suffix <domain>', 'domain suffix of API groups').default('k8s.io').argParser(domain),
  new Option('--taint-domain <domain>', 'domain prefix of node taints')
    .default('kubernetes.io')
    .argParser(domain),
  new Option('--bind-address <ip>', 'address that the API listens on')
    .default('127.0.0.1')
    .argParser(ipAddress),
  new Option('--secure-port <port>', 'port that the API listens on').default(6443).argParser(port),
  new Option('--http2', 'offer HTTP/2 beside HTTP/1.1').default(false),
  new Option('--storage <kind>', 'where objects are kept').choices(storageKinds).default('sqlite'),
  new Option('--history-window <duration>', 'how long the past can be read and watches can resume')
    .default(300_000, '5m')
    .argParser(historyWindow),
  new Option('--history-bytes <size>', 'what the past may take on disk; beyond it the window shrinks')
    .default(256 * 1024 ** 2, '256Mi')
    .argParser(historyBytes),
  new Option('--max-requests-inflight <count>', 'how many requests that read are worked on at once')
    .default(400)
    .argParser(requestCount),
  new Option('--max-mutating-requests-inflight <count>', 'how many requests that write are worked on at once')
    .default(200)
    .argParser(requestCount),
  new Option('--event-ttl <duration>', 'how long an Event is kept after its last change')
    .default(3600_000, '1h')
    .argParser(timeToLive),
];

export interface ControlPlaneFlags {
  groupSuffix: string;
  taintDomain: string;
  bindAddress: string;
  securePort: number;
  http2: boolean;
  storage: StorageKind;
  /** Milliseconds. */
  historyWindow: number;
  historyBytes: number;
  maxRequestsInflight: number;
  maxMutatingRequestsInflight: number;
  /** Milliseconds. */
  eventTtl: number;
}

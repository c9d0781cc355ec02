import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { checkName } from '../api/index.ts';

/** What `--storage` takes. */
export const storageKinds = ['sqlite', 'memory'] as const;
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

/** A file or folder, made absolute. */
export function filePath(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  return resolve(text);
}

export function unixSocket(text: string): string {
  if (/^unix:\/\/\/./.test(text)) return text;
  throw new InvalidArgumentError('It must be a socket: unix:///absolute/path.');
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
  const gates = new Map(Object.entries(before));
  for (const entry of text.split(',').filter((part) => part !== '')) {
    const [name, value, ...rest] = entry.split('=').map((part) => part.trim());
    if (!name || rest.length > 0 || (value !== 'true' && value !== 'false')) {
      throw new InvalidArgumentError(
        `It must be name=true or name=false, joined by commas; found ${JSON.stringify(entry)}.`,
      );
    }
    gates.set(name, value === 'true');
  }
  return Object.fromEntries(gates);
}

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
  new Option(
    '--taint-domain <domain>',
    'domain prefix of node taints (for the node lifecycle, which is not here yet)',
  )
    .default('kubernetes.io')
    .argParser(domain),
  new Option('--bind-address <ip>', 'address that the API listens on')
    .default('127.0.0.1')
    .argParser(ipAddress),
  new Option('--secure-port <port>', 'port that the API listens on').default(6443).argParser(port),
  new Option('--storage <kind>', 'where objects are kept').choices(storageKinds).default('sqlite'),
];

export interface ControlPlaneFlags {
  groupSuffix: string;
  taintDomain: string;
  bindAddress: string;
  securePort: number;
  storage: StorageKind;
}

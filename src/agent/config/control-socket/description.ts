import { isRecord } from '../../../api/index.ts';
import type { FlagValues } from '../flags.ts';
import type { ConfigSources } from '../load.ts';

/** Where an agent's control plane is, according to its flags. */
export type ControlPlanePlace =
  | { readonly mode: 'embedded' }
  | { readonly mode: 'remote'; readonly kubeconfig: string }
  | { readonly mode: 'joining'; readonly kubeconfig: string; readonly bootstrapKubeconfig: string }
  | { readonly mode: 'standalone' };

/** What a running agent says of itself, so that commands need not be given its flags. All paths are absolute. */
export interface AgentDescription {
  pid: number;
  version: string;
  /** Its command line, without secrets. */
  command: readonly string[];
  nodeName: string;
  groupSuffix: string;
  rootDir: string;
  certDir: string;
  lockFile: string;
  /** From what it reads its configuration. */
  sources: ConfigSources;
  /** The configuration files that it has read, drop-ins too. */
  files: readonly string[];
  controlPlane: ControlPlanePlace;
  /** `https://HOST:PORT` of the agent itself, and of a control plane that it runs. */
  urls: { agent: string; api?: string };
  /** For its control plane, or for the agent alone where there is none. */
  kubeconfig?: string;
  runtimeEndpoint?: string;
}

/** The description in an answer; undefined when something that every agent says is missing. */
export function parseDescription(value: unknown): AgentDescription | undefined {
  if (!isRecord(value)) return undefined;
  const { pid, sources, urls } = value;
  const texts = readTexts(value, ['version', 'nodeName', 'groupSuffix', 'rootDir', 'certDir', 'lockFile']);
  const agent = isRecord(urls) ? readText(urls['agent']) : undefined;
  const controlPlane = parsePlace(value['controlPlane']);
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1) return undefined;
  if (texts === undefined || agent === undefined || controlPlane === undefined || !isRecord(sources))
    return undefined;
  return {
    ...texts,
    pid,
    command: readList(value['command']),
    sources: parseSources(sources),
    files: readList(value['files']),
    controlPlane,
    urls: { agent, ...optional('api', isRecord(urls) ? urls['api'] : undefined) },
    ...optional('kubeconfig', value['kubeconfig']),
    ...optional('runtimeEndpoint', value['runtimeEndpoint']),
  };
}

function parseSources(value: Record<string, unknown>): ConfigSources {
  const flags = isRecord(value['flags']) ? value['flags'] : {};
  return {
    ...optional('config', value['config']),
    ...optional('configDir', value['configDir']),
    flags: parseFlags(flags),
    standalone: value['standalone'] === true,
  };
}

function parseFlags(flags: Record<string, unknown>): FlagValues {
  const { port, seccompDefault, featureGates } = flags;
  return {
    ...optional('address', flags['address']),
    ...optional('containerRuntimeEndpoint', flags['containerRuntimeEndpoint']),
    ...(typeof port === 'number' ? { port } : {}),
    ...(typeof seccompDefault === 'boolean' ? { seccompDefault } : {}),
    ...(isRecord(featureGates) ? { featureGates: readGates(featureGates) } : {}),
  };
}

function readGates(value: Record<string, unknown>): Record<string, boolean> {
  const gates = Object.entries(value).filter((entry): entry is [string, boolean] => {
    return typeof entry[1] === 'boolean';
  });
  return Object.fromEntries(gates);
}

function parsePlace(value: unknown): ControlPlanePlace | undefined {
  if (!isRecord(value)) return undefined;
  const { mode } = value;
  const [kubeconfig, bootstrapKubeconfig] = [
    readText(value['kubeconfig']),
    readText(value['bootstrapKubeconfig']),
  ];
  if (mode === 'embedded' || mode === 'standalone') return { mode };
  if (mode === 'remote' && kubeconfig !== undefined) return { mode, kubeconfig };
  if (mode !== 'joining' || kubeconfig === undefined || bootstrapKubeconfig === undefined) return undefined;
  return { mode, kubeconfig, bootstrapKubeconfig };
}

function readTexts<K extends string>(
  value: Record<string, unknown>,
  names: readonly K[],
): Record<K, string> | undefined;
function readTexts(value: Record<string, unknown>, names: readonly string[]) {
  const texts = names.map((name) => [name, readText(value[name])]);
  return texts.some(([, text]) => text === undefined) ? undefined : Object.fromEntries(texts);
}

const readText = (value: unknown) => (typeof value === 'string' ? value : undefined);

function optional<K extends string>(name: K, value: unknown): { [P in K]?: string };
function optional(name: string, value: unknown): Record<string, string> {
  return typeof value === 'string' ? { [name]: value } : {};
}

function readList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/**
 * Passwords in addresses, and the values of options that are secrets themselves, are replaced. A password may contain `/`,
 * `@`, blanks and commas: of each address in a list everything up to its last `@` is replaced.
 */
export function withoutSecrets(command: readonly string[]): string[] {
  const isSecret = (word = '') => /^--[a-z-]*(token|password|secret)$/.test(word);
  return command.map((word, index) => {
    if (isSecret(command[index - 1])) return 'REDACTED';
    const [name = '', ...value] = word.split('=');
    if (isSecret(name) && value.length > 0) return `${name}=REDACTED`;
    return word.replaceAll(/:\/\/(?:(?!,[a-z][a-z0-9+.-]*:\/\/).)*@/gis, '://REDACTED@');
  });
}

import { dirname, resolve } from 'node:path';
import { isRecord } from '../../api/index.ts';
import { describeError, ExitError, exitCodes, readRegularFile } from '../../base/index.ts';
import type { Fields } from './document.ts';
import {
  KubeconfigError,
  parseDocument,
  pathOf,
  readText,
  requireEntry,
  requireText,
  toFields,
} from './document.ts';
import type { Kubeconfig, KubeconfigOptions } from './types.ts';
import { endpointExtension } from './types.ts';

const maxFileBytes = 1024 * 1024;

/**
 * Reads a kubeconfig file and what it refers to (paths are relative to it). Throws an ExitError that names the file and
 * the field. Certificates, keys and tokens are supported; commands, passwords, proxies, impersonation and insecure
 * connections are not. The files are read once; their paths are in `files` for callers that watch them.
 */
export async function readKubeconfig(path: string, options: KubeconfigOptions = {}): Promise<Kubeconfig> {
  try {
    const bytes = await readRegularFile(path, { limitBytes: maxFileBytes });
    const references: References = { folder: dirname(path), files: [] };
    return await resolveContext(await parseDocument(bytes.toString('utf8')), references, options.context);
  } catch (error) {
    throw new ExitError(exitCodes.configuration, `kubeconfig ${path}: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** The folder of relative paths, and the files that have been read. */
interface References {
  readonly folder: string;
  readonly files: string[];
}

async function resolveContext(
  document: unknown,
  references: References,
  wanted: string | undefined,
): Promise<Kubeconfig> {
  const file = toFields(document, '');
  const kind = readText(file, 'kind') ?? 'Config';
  if (kind !== 'Config') throw new KubeconfigError(`kind must be Config, not ${JSON.stringify(kind)}`);
  const name = wanted ?? requireText(file, 'current-context');
  const context = requireEntry(file, 'contexts', 'context', name);
  const cluster = requireEntry(file, 'clusters', 'cluster', requireText(context, 'cluster'));
  const userName = readText(context, 'user');
  const user =
    userName === undefined ? { at: 'users', values: {} } : requireEntry(file, 'users', 'user', userName);
  checkSupported(cluster, user);
  const extensions = readExtensions(cluster);
  return {
    name,
    server: readServer(cluster),
    ca: await readAuthority(cluster, references),
    endpoint: extensions[endpointExtension] === 'agent' ? 'agent' : 'controlPlane',
    extensions,
    ...optional('serverName', readText(cluster, 'tls-server-name')),
    ...optional('namespace', readText(context, 'namespace')),
    ...(await readCredentials(user, references)),
    files: references.files,
  };
}

const insecure =
  'insecure-skip-tls-verify is not supported: give the certificate-authority of the server, and tls-server-name where its certificate bears another name';

function checkSupported(cluster: Fields, user: Fields): void {
  if (cluster.values['insecure-skip-tls-verify'] === true)
    throw new KubeconfigError(`${cluster.at}: ${insecure}`);
  if (readText(cluster, 'proxy-url') !== undefined) {
    throw new KubeconfigError(`${pathOf(cluster, 'proxy-url')} is not supported`);
  }
  const impersonation = ['as', 'as-uid', 'as-groups', 'as-user-extra'];
  for (const key of ['exec', 'auth-provider', 'username', 'password', ...impersonation]) {
    const value = user.values[key];
    if (value === undefined || value === null || value === '') continue;
    throw new KubeconfigError(`${pathOf(user, key)} is not supported: use a client certificate or a token`);
  }
}

function readServer(cluster: Fields): string {
  const server = requireText(cluster, 'server');
  if (URL.canParse(server) && new URL(server).protocol === 'https:') return server;
  const at = pathOf(cluster, 'server');
  throw new KubeconfigError(`${at} must be an https:// address, not ${JSON.stringify(server)}`);
}

async function readAuthority(cluster: Fields, references: References): Promise<string> {
  const ca = await readPem(cluster, 'certificate-authority', references);
  if (ca !== undefined) return ca;
  const at = pathOf(cluster, 'certificate-authority');
  throw new KubeconfigError(`neither ${at}-data nor ${at} is set`);
}

async function readCredentials(user: Fields, references: References) {
  const cert = await readPem(user, 'client-certificate', references);
  const key = await readPem(user, 'client-key', references);
  if ((cert === undefined) !== (key === undefined)) {
    const [has, lacks] = cert === undefined ? ['key', 'certificate'] : ['certificate', 'key'];
    throw new KubeconfigError(`${user.at} has a client-${has} but no client-${lacks}`);
  }
  return {
    ...optional('cert', cert),
    ...optional('key', key),
    ...optional('token', (await readTokenFile(user, references)) ?? readText(user, 'token')),
  };
}

/** The first block is enough: the TLS library reads the others. */
const pemBlock = /-----BEGIN [A-Z0-9 ]+-----\s[A-Za-z0-9+/=\s]+-----END [A-Z0-9 ]+-----/;

/** `KEY-data` in base64, or the content of the file that `KEY` names. */
async function readPem(fields: Fields, key: string, references: References): Promise<string | undefined> {
  const data = readText(fields, `${key}-data`);
  const path = readText(fields, key);
  if (data === undefined && path === undefined) return undefined;
  const at = pathOf(fields, data === undefined ? key : `${key}-data`);
  const pem =
    data === undefined
      ? await readReferencedFile(fields, key, references, path ?? '')
      : Buffer.from(data, 'base64').toString('utf8');
  if (!pemBlock.test(pem))
    throw new KubeconfigError(`${at} holds no PEM${data === undefined ? '' : ' in base64'}`);
  return pem;
}

async function readTokenFile(user: Fields, references: References): Promise<string | undefined> {
  const path = readText(user, 'tokenFile');
  if (path === undefined) return undefined;
  const token = (await readReferencedFile(user, 'tokenFile', references, path)).trim();
  if (token === '') throw new KubeconfigError(`${pathOf(user, 'tokenFile')}: ${path} is empty`);
  return token;
}

async function readReferencedFile(
  fields: Fields,
  key: string,
  references: References,
  name: string,
): Promise<string> {
  const path = resolve(references.folder, name);
  references.files.push(path);
  try {
    return (await readRegularFile(path, { limitBytes: maxFileBytes })).toString('utf8');
  } catch (error) {
    throw new KubeconfigError(pathOf(fields, key), { cause: error });
  }
}

function readExtensions(cluster: Fields): Record<string, unknown> {
  const entries = cluster.values['extensions'] ?? [];
  if (!Array.isArray(entries)) throw new KubeconfigError(`${pathOf(cluster, 'extensions')} must be a list`);
  return Object.fromEntries(
    entries.filter(isRecord).map(({ name, extension }): [string, unknown] => [String(name), extension]),
  );
}

function optional<K extends string>(key: K, value: string | undefined): { [P in K]?: string } {
  const result: { [P in K]?: string } = {};
  if (value !== undefined) result[key] = value;
  return result;
}

import { dirname, resolve } from 'node:path';
import { isRecord } from '../../api/index.ts';
import { describeError, ExitError, exitCodes, readRegularFile } from '../../base/index.ts';
import { parseDocument } from './document.ts';
import type { Fields } from './fields.ts';
import { entryOf, KubeconfigError, mapping, pathOf, requiredTextOf, textOf } from './fields.ts';
import type { Kubeconfig, KubeconfigOptions } from './types.ts';
import { endpointExtension } from './types.ts';

const limitBytes = 1024 * 1024;

/**
 * Reads a kubeconfig file and what it refers to (paths are relative to it). Throws an ExitError that names the file and
 * the field. Certificates, keys and tokens are supported; commands, passwords, proxies, impersonation and insecure
 * connections are not. Files are read now and not again: who must follow them watches those in `files`.
 */
export async function readKubeconfig(path: string, options: KubeconfigOptions = {}): Promise<Kubeconfig> {
  try {
    const bytes = await readRegularFile(path, { limitBytes });
    const near: Near = { folder: dirname(path), files: [] };
    return await contextOf(await parseDocument(bytes.toString('utf8')), near, options.context);
  } catch (error) {
    throw new ExitError(exitCodes.configuration, `kubeconfig ${path}: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** Where the files that are named are, and which of them have been read. */
interface Near {
  readonly folder: string;
  readonly files: string[];
}

async function contextOf(document: unknown, near: Near, wanted: string | undefined): Promise<Kubeconfig> {
  const file = mapping(document, '');
  const kind = textOf(file, 'kind') ?? 'Config';
  if (kind !== 'Config') throw new KubeconfigError(`kind must be Config, not ${JSON.stringify(kind)}`);
  const name = wanted ?? requiredTextOf(file, 'current-context');
  const context = entryOf(file, 'contexts', 'context', name);
  const cluster = entryOf(file, 'clusters', 'cluster', requiredTextOf(context, 'cluster'));
  const userName = textOf(context, 'user');
  const user =
    userName === undefined ? { at: 'users', values: {} } : entryOf(file, 'users', 'user', userName);
  refuseUnsupported(cluster, user);
  const extensions = extensionsOf(cluster);
  return {
    name,
    server: serverOf(cluster),
    ca: await certificateAuthority(cluster, near),
    endpoint: extensions[endpointExtension] === 'agent' ? 'agent' : 'controlPlane',
    extensions,
    ...optional('serverName', textOf(cluster, 'tls-server-name')),
    ...optional('namespace', textOf(context, 'namespace')),
    ...(await credentialsOf(user, near)),
    files: near.files,
  };
}

const insecure =
  'insecure-skip-tls-verify is not supported: give the certificate-authority of the server, and tls-server-name where its certificate bears another name';

function refuseUnsupported(cluster: Fields, user: Fields): void {
  if (cluster.values['insecure-skip-tls-verify'] === true)
    throw new KubeconfigError(`${cluster.at}: ${insecure}`);
  if (textOf(cluster, 'proxy-url') !== undefined) {
    throw new KubeconfigError(`${pathOf(cluster, 'proxy-url')} is not supported`);
  }
  const impersonation = ['as', 'as-uid', 'as-groups', 'as-user-extra'];
  for (const key of ['exec', 'auth-provider', 'username', 'password', ...impersonation]) {
    const value = user.values[key];
    if (value === undefined || value === null || value === '') continue;
    throw new KubeconfigError(`${pathOf(user, key)} is not supported: use a client certificate or a token`);
  }
}

function serverOf(cluster: Fields): string {
  const server = requiredTextOf(cluster, 'server');
  if (URL.canParse(server) && new URL(server).protocol === 'https:') return server;
  const at = pathOf(cluster, 'server');
  throw new KubeconfigError(`${at} must be an https:// address, not ${JSON.stringify(server)}`);
}

async function certificateAuthority(cluster: Fields, near: Near): Promise<string> {
  const ca = await pemOf(cluster, 'certificate-authority', near);
  if (ca !== undefined) return ca;
  const at = pathOf(cluster, 'certificate-authority');
  throw new KubeconfigError(`neither ${at}-data nor ${at} is set`);
}

async function credentialsOf(user: Fields, near: Near) {
  const cert = await pemOf(user, 'client-certificate', near);
  const key = await pemOf(user, 'client-key', near);
  if ((cert === undefined) !== (key === undefined)) {
    const [has, lacks] = cert === undefined ? ['key', 'certificate'] : ['certificate', 'key'];
    throw new KubeconfigError(`${user.at} has a client-${has} but no client-${lacks}`);
  }
  return {
    ...optional('cert', cert),
    ...optional('key', key),
    ...optional('token', (await tokenFileOf(user, near)) ?? textOf(user, 'token')),
  };
}

/** The first block will do: the TLS library reads the rest. */
const pemBlock = /-----BEGIN [A-Z0-9 ]+-----\s[A-Za-z0-9+/=\s]+-----END [A-Z0-9 ]+-----/;

/** `KEY-data` in base64, else the content of the file that `KEY` names. */
async function pemOf(fields: Fields, key: string, near: Near): Promise<string | undefined> {
  const data = textOf(fields, `${key}-data`);
  const path = textOf(fields, key);
  if (data === undefined && path === undefined) return undefined;
  const at = pathOf(fields, data === undefined ? key : `${key}-data`);
  const pem =
    data === undefined
      ? await contentOf(fields, key, near, path ?? '')
      : Buffer.from(data, 'base64').toString('utf8');
  if (!pemBlock.test(pem))
    throw new KubeconfigError(`${at} holds no PEM${data === undefined ? '' : ' in base64'}`);
  return pem;
}

async function tokenFileOf(user: Fields, near: Near): Promise<string | undefined> {
  const path = textOf(user, 'tokenFile');
  if (path === undefined) return undefined;
  const token = (await contentOf(user, 'tokenFile', near, path)).trim();
  if (token === '') throw new KubeconfigError(`${pathOf(user, 'tokenFile')}: ${path} is empty`);
  return token;
}

async function contentOf(fields: Fields, key: string, near: Near, name: string): Promise<string> {
  const path = resolve(near.folder, name);
  near.files.push(path);
  try {
    return (await readRegularFile(path, { limitBytes })).toString('utf8');
  } catch (error) {
    throw new KubeconfigError(pathOf(fields, key), { cause: error });
  }
}

function extensionsOf(cluster: Fields): Record<string, unknown> {
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

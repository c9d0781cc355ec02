import { isRecord, tryParseRecord } from '../../../base/index.ts';
import { normalizeKey } from './match.ts';
import type { Credential, CredentialsByKey } from './types.ts';

/** Credentials in one file or secret; further ones are not used. */
const maxEntries = 1000;

/** `config.json`, and a secret's `.dockerconfigjson`: the credentials stand in `auths`. Undefined: it is not such a text. */
export function parseDockerConfig(text: string): CredentialsByKey | undefined {
  const auths = tryParseRecord(text)?.['auths'] ?? {};
  return tryParseRecord(text) !== undefined && isRecord(auths) ? parseEntries(auths) : undefined;
}

/** A secret's `.dockercfg`: the same without `auths` around it. Undefined: it is not such a text. */
export function parseDockercfg(text: string): CredentialsByKey | undefined {
  const entries = tryParseRecord(text);
  return entries === undefined ? undefined : parseEntries(entries);
}

/** All of them, each key with the credentials of the earlier ones first. */
export function mergeCredentials(all: readonly CredentialsByKey[]): CredentialsByKey {
  const merged = new Map<string, readonly Credential[]>();
  for (const each of all) {
    for (const [key, credentials] of each) merged.set(key, [...(merged.get(key) ?? []), ...credentials]);
  }
  return merged;
}

function parseEntries(entries: Readonly<Record<string, unknown>>): CredentialsByKey {
  const found = new Map<string, readonly Credential[]>();
  for (const [stated, entry] of Object.entries(entries).slice(0, maxEntries)) {
    const key = normalizeKey(stated);
    const credential = parseEntry(entry);
    if (key === undefined || credential === undefined) continue;
    found.set(key, [...(found.get(key) ?? []), credential]);
  }
  return found;
}

/** `auth`, where it is stated, counts more than user name and password. */
function parseEntry(entry: unknown): Credential | undefined {
  if (!isRecord(entry)) return undefined;
  const { username, password, auth } = entry;
  if (typeof auth === 'string' && auth !== '') return decodeAuth(auth);
  if (typeof username !== 'string' && typeof password !== 'string') return undefined;
  return {
    username: typeof username === 'string' ? username : '',
    password: typeof password === 'string' ? password : '',
  };
}

/** Base64 of `USER:PASSWORD`, with or without padding. */
function decodeAuth(auth: string): Credential | undefined {
  const text = Buffer.from(auth.trim(), 'base64').toString('utf8').replace(/\0+$/, '');
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

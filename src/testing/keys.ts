import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { agentClientUser, isRecord } from '../api/index.ts';
import type { Keys, Pki } from '../apiserver/pki/index.ts';
import { readServiceAccountKey } from '../apiserver/pki/index.ts';
import { errorCode } from '../base/index.ts';
import type { Pair } from '../base/x509/index.ts';
import { makeAuthority, makeLeaf, newKeyPem } from './certificates/certificate.ts';

/** The keys of a server for tests; stored in a file only if the server has a folder of its own. */
export interface TestKeys extends Keys {
  readonly authority: Pair;
  readonly admin: Pair;
  /** Issues a client certificate. */
  issue(user: string, groups: readonly string[]): Pair;
}

interface Material extends Pki {
  /** The key that signs tokens, PEM. */
  tokens: string;
}

/** The address that a server for tests listens on. */
export const address = '127.0.0.1';
export const adminName = 'kubernetes-admin';
const issuer = { commonName: 'nodeward-testing-ca' };

/** With a folder, the keys are stored there and read again the next time. */
export async function openTestKeys(folder: string | undefined): Promise<TestKeys> {
  const material = folder === undefined ? generate() : await loadOrGenerate(folder);
  const { authority, admin } = material;
  return {
    authority,
    admin,
    issue: (commonName, organizations) =>
      makeLeaf(authority, issuer, { commonName, organizations }, 'client'),
    pki: async () => material,
    serviceAccountKey: async () => readServiceAccountKey(material.tokens),
    publish: async () => undefined,
  };
}

function generate(): Material {
  const authority = makeAuthority(issuer);
  const names = { serverNames: ['localhost', hostname()], serverAddress: address };
  const admin = { commonName: adminName, organizations: ['system:masters'] };
  return {
    authority,
    serving: makeLeaf(authority, issuer, { commonName: 'kube-apiserver' }, names),
    admin: makeLeaf(authority, issuer, admin, 'client'),
    agentClient: makeAgentClient(authority),
    tokens: newKeyPem(),
  };
}

const makeAgentClient = (authority: Pair): Pair =>
  makeLeaf(authority, issuer, { commonName: agentClientUser }, 'client');

const fileName = 'testing-keys.json';

async function loadOrGenerate(folder: string): Promise<Material> {
  const path = join(folder, fileName);
  const found = await readIfExists(path);
  if (found !== undefined) return parseMaterial(path, found);
  const made = generate();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(path, JSON.stringify(made), { mode: 0o600 });
  return made;
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function parseMaterial(path: string, text: string): Material {
  const value: unknown = JSON.parse(text);
  const kept = isRecord(value) ? value : {};
  const [authority, serving, admin] = [kept['authority'], kept['serving'], kept['admin']].map(parsePair);
  const { tokens } = kept;
  if (authority && serving && admin && typeof tokens === 'string') {
    const agentClient = parsePair(kept['agentClient']) ?? makeAgentClient(authority);
    return { authority, serving, admin, agentClient, tokens };
  }
  throw new Error(`${path} holds no keys of a server for tests: remove it, and new ones are made`);
}

function parsePair(value: unknown): Pair | undefined {
  if (!isRecord(value)) return undefined;
  const { cert, key } = value;
  return typeof cert === 'string' && typeof key === 'string' ? { cert, key } : undefined;
}

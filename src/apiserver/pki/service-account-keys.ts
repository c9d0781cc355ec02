import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey, hash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../base/index.ts';
import { describeError, ExitError, errorCode, exitCodes } from '../../base/index.ts';
import { findKeyFault } from '../../base/x509/index.ts';
import { keepPrivate } from './pki.ts';
import { readKey, settleKey } from './settle-key.ts';

/** What a token can be checked with. */
export interface TokenKey {
  /** Names the key in a token's header: the digest of its public half. */
  id: string;
  /** As tokens name it (RFC 7518, section 3.1). */
  algorithm: string;
  publicKey: KeyObject;
}

/** What the tokens of service accounts are signed and checked with. */
export interface ServiceAccountKey extends TokenKey {
  privateKey: KeyObject;
  /** Keys of before, with which tokens are still checked but no longer signed. */
  previous: readonly TokenKey[];
}

const fileName = 'sa.key';

/** What a key of before is called: `sa.key` moved away, or its public half. */
const previousName = /^sa-[\w.-]+\.(?:key|pub)$/;
const maxPrevious = 16;

/**
 * The key in `sa.key`, made (EC, P-256) when there is none yet, 0600. One that cannot be used is not replaced, because
 * every token that was signed with it would end: that is for a person to decide (ExitError).
 *
 * To start with a new key without invalidating tokens: move `sa.key` to `sa-old.key`, restart, and remove `sa-old.key` when
 * the last of its tokens has expired.
 */
export async function openServiceAccountKey(options: {
  folder: string;
  log: Logger;
}): Promise<ServiceAccountKey> {
  const path = join(options.folder, fileName);
  try {
    const pem = (await existing(path)) ?? (await make(options.folder, path));
    await keepPrivate(path, options.log);
    return { ...readServiceAccountKey(pem), previous: await readPrevious(options.folder) };
  } catch (error) {
    if (error instanceof ExitError) throw error;
    throw new ExitError(
      exitCodes.configuration,
      `the key of the service accounts' tokens in ${path} cannot be used: ${describeError(error)}. Restore it from a ` +
        'backup, or move it away to begin with a new one, with which all tokens that were signed so far end',
      { cause: error },
    );
  }
}

async function readPrevious(folder: string): Promise<TokenKey[]> {
  const names = (await readdir(folder)).filter((name) => previousName.test(name)).sort();
  if (names.length > maxPrevious)
    throw new Error(`there are more than ${maxPrevious} keys of before beside it`);
  return await Promise.all(names.map((name) => readTokenKey(join(folder, name))));
}

async function readTokenKey(path: string): Promise<TokenKey> {
  try {
    return tokenKey(createPublicKey(await readKey(path)));
  } catch (error) {
    throw new ExitError(
      exitCodes.configuration,
      `the key of before in ${path} cannot be used to check tokens: ${describeError(error)}. Restore it or move it away`,
      { cause: error },
    );
  }
}

async function existing(path: string): Promise<string | undefined> {
  try {
    return await readKey(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function make(folder: string, path: string): Promise<string> {
  try {
    return await settleKey(folder, fileName);
  } catch (error) {
    throw new ExitError(exitCodes.unwritable, `cannot write ${path}: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** The key in PEM; throws where it cannot sign tokens. */
export function readServiceAccountKey(pem: string): ServiceAccountKey {
  const privateKey = createPrivateKey(pem);
  const fault = findKeyFault(privateKey);
  if (fault !== undefined) throw new Error(fault);
  return { ...tokenKey(createPublicKey(privateKey)), privateKey, previous: [] };
}

function tokenKey(publicKey: KeyObject): TokenKey {
  const fault = findKeyFault(publicKey);
  if (fault !== undefined) throw new Error(fault);
  const id = hash('sha256', publicKey.export({ format: 'der', type: 'spki' }), 'base64url');
  return { id, algorithm: algorithmOf(publicKey), publicKey };
}

const algorithms = new Map([
  ['prime256v1', 'ES256'],
  ['secp384r1', 'ES384'],
  ['secp521r1', 'ES512'],
]);

function algorithmOf({ asymmetricKeyDetails }: KeyObject): string {
  return algorithms.get(asymmetricKeyDetails?.namedCurve ?? '') ?? 'RS256';
}

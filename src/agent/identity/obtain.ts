import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import type { Expected, Pair, Subject } from '../../base/x509/index.ts';
import {
  createRequest,
  findFault,
  generateKeyPem,
  noNames,
  readPair,
  writePair,
} from '../../base/x509/index.ts';
import { findChainFault } from './chain.ts';

export interface ObtainOptions {
  folder: string;
  /** Of the two files: `name.crt` and `name.key`. */
  name: string;
  subject: Subject;
  /** `authority` may hold several certificates, and the certificate may be followed by intermediates. */
  expected: Omit<Expected, 'subject' | 'now'> & { authority: string };
  /** Has a request signed, and returns the certificate, PEM. */
  sign(csrPem: string): Promise<string>;
  clock: Clock;
  log: Logger;
}

/**
 * Returns the certificate on disk when it meets the requirements, else a new one. The new key is generated here and never
 * leaves this machine. A signed certificate is checked in the same way before it replaces the old one.
 */
export async function obtainPair(options: ObtainOptions): Promise<Pair> {
  const { folder, name, subject, expected, clock, log } = options;
  const found = await readFound(options);
  if (typeof found !== 'string') {
    await makePrivate(join(folder, `${name}.key`), log);
    return found;
  }
  log.info({ certificate: name }, `asking for a certificate: ${found}`);
  const key = await generateKeyPem();
  const cert = await options.sign(await createRequest(key, subject, expected.names ?? noNames));
  const pair = { cert, key };
  // signing may have taken long
  const wrong = faultOf(pair, { ...expected, subject, minLeft: 0, now: clock.now() });
  if (wrong !== undefined)
    throw new Error(`the certificate that was signed for ${name} is of no use: ${wrong}`);
  await writePair(folder, name, pair);
  return pair;
}

/** Returns what is on disk, or why it cannot be used. */
async function readFound({ folder, name, subject, expected, clock }: ObtainOptions): Promise<Pair | string> {
  try {
    const found = await readPair(folder, name);
    if (found === undefined) return 'there is none yet';
    return faultOf(found, { ...expected, subject, now: clock.now() }) ?? found;
  } catch (error) {
    return describeError(error);
  }
}

function faultOf(
  pair: Pair,
  { authority, ...expected }: Expected & { authority: string },
): string | undefined {
  return findFault(pair, expected) ?? findChainFault(pair.cert, authority);
}

/** Removes the permissions of other users on a key. */
async function makePrivate(path: string, log: Logger): Promise<void> {
  const mode = (await stat(path)).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  await chmod(path, 0o600);
  log.warn({ path, mode: mode.toString(8) }, 'a key was open to other users: its permissions are now 600');
}

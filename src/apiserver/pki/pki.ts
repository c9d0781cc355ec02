import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { agentClientUser } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import { describeError, ExitError, ensurePrivateFolder, errorCode, exitCodes } from '../../base/index.ts';
import type { Expected, Issue, Pair } from '../../base/x509/index.ts';
import { findFault, issuePair, noNames, readPair, validity, writePair } from '../../base/x509/index.ts';
import { openAuthority } from './authority.ts';
import { servingNames } from './server-names.ts';

export interface PkiOptions {
  /** Where keys and certificates are kept: made when missing, 0700. */
  folder: string;
  /** Names and addresses beside the usual ones under which the API is reached; 0.0.0.0 and :: mean all there are. */
  serverNames: readonly string[];
  clock: Clock;
  log: Logger;
}

/** The control plane's keys and certificates. */
export interface Pki {
  authority: Pair;
  serving: Pair;
  /** For `system:masters`. */
  admin: Pair;
  /** The client certificate for node agents; its user may do what `system:kubelet-api-admin` allows, and no more. */
  agentClient: Pair;
}

const dayMs = 24 * 3600_000;
const leafMs = 365 * dayMs;
/** A certificate with less than a third of its lifetime left is renewed. */
const minLeft = 1 / 3;

/**
 * Reads the control plane's keys and certificates, and creates what is missing or no longer valid. A damaged authority is
 * never replaced: everything it signed would become invalid, so an operator has to decide (ExitError).
 */
export async function openPki(options: PkiOptions): Promise<Pki> {
  const { folder, log } = options;
  await ensurePrivateFolder(folder);
  const authority = await openAuthority(options);
  const serving = await openLeaf(options, authority, 'apiserver', {
    subject: { commonName: 'kube-apiserver', organizations: [] },
    names: servingNames(options.serverNames),
    use: 'server',
  });
  const admin = await openLeaf(options, authority, 'admin', {
    subject: { commonName: 'kubernetes-admin', organizations: ['system:masters'] },
    names: noNames,
    use: 'client',
  });
  const agentClient = await openLeaf(options, authority, 'apiserver-kubelet-client', {
    subject: { commonName: agentClientUser, organizations: [] },
    names: noNames,
    use: 'client',
  });
  const keys = ['ca', 'apiserver', 'admin', 'apiserver-kubelet-client'];
  for (const name of keys) await keepPrivate(join(folder, `${name}.key`), log);
  return { authority, serving, admin, agentClient };
}

type Leaf = Pick<Issue, 'subject' | 'names' | 'use'>;

async function openLeaf(
  { folder, clock, log }: PkiOptions,
  authority: Pair,
  name: string,
  leaf: Leaf,
): Promise<Pair> {
  const now = clock.now();
  const found = await readLeaf(folder, name, { ...leaf, authority: authority.cert, minLeft, now });
  if (typeof found !== 'string') return found;
  log.info({ certificate: name }, `making a certificate: ${found}`);
  const made = await issuePair(authority, { ...leaf, lifetimeMs: leafMs, now });
  try {
    await writePair(folder, name, made);
  } catch (error) {
    const message = `cannot write ${join(folder, name)}.crt and .key: ${describeError(error)}`;
    // an API that is away because its disk is full could not be asked to delete anything
    if (found === noneYet || !noRoom.includes(errorCode(error) ?? ''))
      throw new ExitError(exitCodes.unwritable, message, { cause: error });
    log.warn(
      { certificate: name },
      `${message}; the new certificate is used and not kept: the next start makes another`,
    );
  }
  return made;
}

const noneYet = 'there is none yet';
const noRoom = ['ENOSPC', 'EDQUOT', 'EROFS'];

/** Returns the pair on disk, or why it cannot be used. */
async function readLeaf(folder: string, name: string, expected: Expected): Promise<Pair | string> {
  try {
    const found = await readPair(folder, name);
    if (found === undefined) return noneYet;
    const fault = findFault(found, { ...expected, minLeft: 0 });
    if (fault !== undefined) return fault;
    // a leaf ends with its authority at the latest: a new one would end no later
    if (endsTogether(found.cert, expected.authority)) return found;
    return findFault(found, expected) ?? found;
  } catch (error) {
    return describeError(error);
  }
}

function endsTogether(cert: string, authority: string | undefined): boolean {
  return authority !== undefined && validity(cert).notAfterMs === validity(authority).notAfterMs;
}

/** Takes away what others may do with a key. */
export async function keepPrivate(path: string, log: Logger): Promise<void> {
  const mode = (await stat(path)).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  try {
    await chmod(path, 0o600);
    log.warn({ path, mode: mode.toString(8) }, 'a key was open to other users: its permissions are now 600');
  } catch (error) {
    log.warn({ path, mode: mode.toString(8), cause: describeError(error) }, 'a key is open to other users');
  }
}

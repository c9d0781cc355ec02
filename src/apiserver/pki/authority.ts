import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '../../base/index.ts';
import { describeError, ExitError, exitCodes, writeFileAtomic } from '../../base/index.ts';
import type { Pair } from '../../base/x509/index.ts';
import { createAuthority, findFault, readPair, validity } from '../../base/x509/index.ts';
import { settleKey } from './settle-key.ts';

/*
 * The authority is created once and never replaced: everything it signed would become invalid. Its key is written first,
 * completely or not at all, and a process that finds a key uses it. So an interrupted start is completed by the next one,
 * and two processes that start at once create certificates of the same name for the same key, which verify the same
 * signatures, whichever of them remains.
 *
 *     nothing at all                  → make a key (the first of two wins), then the certificate
 *     a key alone, nothing signed     → make the certificate
 *     anything else that is not whole → an ExitError, for a person to decide
 */

export interface AuthorityFiles {
  folder: string;
  clock: Clock;
  log: Logger;
}

const commonName = 'nodeward-ca';
const dayMs = 24 * 3600_000;
const lifetimeMs = 3650 * dayMs;
const warnBeforeMs = 180 * dayMs;
/** Any of these files shows that there was an authority that signed it. */
const leaves = ['apiserver.crt', 'admin.crt', 'apiserver-kubelet-client.crt'];

/** The cluster's authority in `ca.crt` and `ca.key`, made when there is none yet. */
export async function openAuthority(files: AuthorityFiles): Promise<Pair> {
  const found = await readFound(files);
  if (found === undefined || found.cert === '') {
    const signed = await firstOf(files.folder, [...leaves, 'ca.crt']);
    if (signed === undefined) return await make(files);
    const missing = found === undefined ? 'both files are missing' : 'the certificate is missing or empty';
    throw unusable(files.folder, `${missing}, but there is ${signed}`);
  }
  const now = files.clock.now();
  refuseClockBehind(files.folder, found.cert, now);
  const fault = findFault(found, { authority: found.cert, use: 'authority', now });
  if (fault !== undefined) throw unusable(files.folder, fault);
  const { notAfterMs } = validity(found.cert);
  if (notAfterMs - now < warnBeforeMs) {
    const end = new Date(notAfterMs).toISOString();
    files.log.warn({ end }, 'the certificate authority ends soon: plan for a new one');
  }
  return found;
}

/**
 * A clock that is behind, as on a machine that has none while it is off, may be right in a moment: no fault of the files,
 * so the code is one after which a service is started again.
 */
function refuseClockBehind(folder: string, cert: string, now: number): void {
  const notBeforeMs = beginOf(cert);
  if (notBeforeMs === undefined || now >= notBeforeMs) return;
  const [from, current] = [notBeforeMs, now].map((ms) => new Date(ms).toISOString());
  throw new ExitError(
    exitCodes.failed,
    `the certificate authority in ${join(folder, 'ca.crt')} is valid only from ${from} on, and this machine's clock shows ${current}: set the clock, or wait until it is set`,
  );
}

function beginOf(cert: string): number | undefined {
  try {
    return validity(cert).notBeforeMs;
  } catch {
    return undefined; // the certificate's faults are reported later with the others
  }
}

async function readFound({ folder }: AuthorityFiles): Promise<Pair | undefined> {
  try {
    return await readPair(folder, 'ca');
  } catch (error) {
    throw unusable(folder, describeError(error), error);
  }
}

async function firstOf(folder: string, wanted: readonly string[]): Promise<string | undefined> {
  const names = new Set(await readdir(folder));
  return wanted.find((name) => names.has(name));
}

async function make({ folder, clock, log }: AuthorityFiles): Promise<Pair> {
  const key = await settleKey(folder, 'ca.key');
  try {
    const made = await createAuthority(commonName, lifetimeMs, clock.now(), key);
    await writeFileAtomic(join(folder, 'ca.crt'), made.cert);
    log.info({ folder }, 'certificate authority made');
    return made;
  } catch (error) {
    throw unusable(folder, describeError(error), error);
  }
}

function unusable(folder: string, fault: string, cause?: unknown): ExitError {
  return new ExitError(
    exitCodes.configuration,
    `the certificate authority in ${join(folder, 'ca.crt')} and ca.key cannot be used: ${fault}. ` +
      "Compare this machine's clock if it is a matter of time; restore both files from a backup; or move the " +
      'folder away to begin with a new authority, which every node and client must then be given',
    { cause },
  );
}

import type { Clock } from '../../../base/index.ts';
import { describeError, Mutex } from '../../../base/index.ts';
import { RefusedError } from '../../server/index.ts';
import type { ArchiveFolder, StoredCheckpoint } from '../archive-folder.ts';
import { createDigester } from '../dump/digest.ts';
import type { Verification } from '../record.ts';
import type { Uses } from '../uses.ts';
import { noCheckpoint } from './refusals.ts';

/** What was found, beside what the sidecar says. */
export interface Verdict {
  readonly verification: Verification;
  readonly sha256?: string;
  readonly bytes?: number;
  /** Why it could not be noted in the sidecar. */
  readonly unnoted?: string;
}

export interface Verifier {
  /**
   * Reads an archive from end to end, in a thread of its own, and notes in its sidecar what came of it. One at a time,
   * others wait. Throws a RefusedError where nobody knows what it should be, or too many wait; rejects when `cancel`
   * aborts, and nothing is noted then.
   */
  verify(stored: StoredCheckpoint, cancel: AbortSignal): Promise<Verdict>;
}

const maxWaiting = 20;

export function createVerifier(archives: ArchiveFolder, uses: Uses, clock: Clock): Verifier {
  const mutex = new Mutex();
  return {
    async verify(stored, cancel) {
      const { id, record } = stored;
      if (record === undefined)
        throw new RefusedError(
          409,
          `nobody knows what ${id} should be: ${stored.problem ?? 'it has no sidecar'}`,
        );
      if (mutex.size > maxWaiting)
        throw new RefusedError(429, `${mutex.size} archives are being verified or wait; try again later`);
      using _lock = await mutex.acquire(cancel);
      using _held = uses.hold(id);
      const found = await read(stored, cancel);
      cancel.throwIfAborted();
      if (found instanceof Error && (await archives.read(id)) === undefined) throw noCheckpoint(id);
      const verification: Verification = {
        at: new Date(clock.now()).toISOString(),
        ...judge(found, record),
      };
      // what was found is true all the same where nothing can be written
      const unnoted = await archives.change(id, { verified: verification }).then(
        () => undefined,
        (error: unknown) => describeError(error),
      );
      return {
        verification,
        ...(unnoted === undefined ? {} : { unnoted }),
        ...(found instanceof Error ? {} : { sha256: found.sha256, bytes: found.sizeBytes }),
      };
    },
  };
}

type Found = { readonly sha256: string; readonly sizeBytes: number } | Error;

/** An archive that cannot be read is damaged as well. */
async function read({ path, bytes }: StoredCheckpoint, cancel: AbortSignal): Promise<Found> {
  await using digester = createDigester(bytes);
  try {
    return await digester.digest({ path, heads: [], headLimitBytes: 0 }, cancel);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function judge(
  found: Found,
  { sha256, sizeBytes }: { readonly sha256: string; readonly sizeBytes: number },
): Pick<Verification, 'result' | 'problem'> {
  if (found instanceof Error) return damaged(`it cannot be read: ${describeError(found)}`);
  if (found.sizeBytes !== sizeBytes) return damaged(`it has ${found.sizeBytes} bytes, not ${sizeBytes}`);
  if (found.sha256 !== sha256) return damaged(`its SHA-256 is ${found.sha256}, not ${sha256}`);
  return { result: 'matches' };
}

const damaged = (problem: string) => ({ result: 'damaged', problem }) as const;

import type { Clock } from '../../../base/index.ts';
import { describeError, Mutex } from '../../../base/index.ts';
import { RefusedError } from '../../server/index.ts';
import type { ArchiveFolder, StoredCheckpoint } from '../archive-folder.ts';
import type { ArchivesInUse } from '../archives-in-use.ts';
import { createDigester } from '../dump/digest.ts';
import type { Verification } from '../record.ts';
import { createNotFoundError } from './not-found.ts';

/** The result of a verification, with what was measured. */
interface Verdict {
  readonly verification: Verification;
  readonly sha256?: string;
  readonly bytes?: number;
  /** Why the result could not be written to the sidecar. */
  readonly unnoted?: string;
}

export interface Verifier {
  /**
   * Reads a whole archive, in a thread of its own, and writes the result to its sidecar. One at a time, others wait. Throws
   * a RefusedError where the expected digest is not known, or too many wait. Rejects when `cancel` aborts; then nothing
   * is written.
   */
  verify(stored: StoredCheckpoint, cancel: AbortSignal): Promise<Verdict>;
}

const maxWaiting = 20;

export function createVerifier(archives: ArchiveFolder, uses: ArchivesInUse, clock: Clock): Verifier {
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
      const found = await digestArchive(stored, cancel);
      cancel.throwIfAborted();
      if (found instanceof Error && (await archives.read(id)) === undefined) throw createNotFoundError(id);
      const verification: Verification = {
        at: new Date(clock.now()).toISOString(),
        ...judge(found, record),
      };
      // the result is valid even if it cannot be written
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

/** An error is a result, too: an archive that cannot be read is damaged. */
async function digestArchive({ path, bytes }: StoredCheckpoint, cancel: AbortSignal): Promise<Found> {
  await using digester = createDigester(bytes);
  try {
    return await digester.digest({ path, heads: [], maxHeadBytes: 0 }, cancel);
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

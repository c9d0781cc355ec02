import { lstat, rm } from 'node:fs/promises';
import type { Clock, Logger } from '../index.ts';
import { describeError, errorCode, readRegularFile } from '../index.ts';
import type { StateRecord } from './format.ts';
import { decodeState, encodeState } from './format.ts';
import { removeDrafts, setAside } from './set-aside.ts';
import { StateWriter } from './writer.ts';

export interface StateFileOptions<T extends object> {
  /** Absolute. Its folder is created (0700) when it is missing, its parents are not. */
  path: string;
  /** What the file keeps, in a word or two for the log. */
  what: string;
  /** The version of the value's members; a file of another version is set aside. Default 1. */
  formatVersion?: number;
  /** Turns the members that were read into a value; throws an Error when they are not valid. */
  parse(members: StateRecord): T;
  /** The members to write; default those of the value itself. */
  format?(value: T): object;
  /** A longer file is neither read nor written; default 16 MiB. */
  limitBytes?: number;
  clock: Clock;
  log: Logger;
  /** How a file is replaced as a whole; default writeFileAtomic. */
  writeFile?: (path: string, text: string) => Promise<void>;
}

export type StateRead<T> =
  | { readonly state: 'value'; readonly value: T }
  | { readonly state: 'absent' }
  /** `keptAs` is the file's new path; undefined where it could not be moved. */
  | { readonly state: 'damaged'; readonly reason: string; readonly keptAs: string | undefined };

/**
 * A state of the agent in a file of mode 0600. The file has the whole old content or the whole new one, even after a kill
 * or a power failure. Disposal tries once more to write what could not be written.
 */
export interface StateFile<T extends object> extends AsyncDisposable {
  /**
   * Reads the state. Never throws: a file that is damaged (or a link, a FIFO, another user's) is logged and set aside as
   * `PATH.damaged-TIME`; the latest three are kept.
   */
  read(): Promise<StateRead<T>>;
  /**
   * Resolves once `value`, or one passed later, is on disk. Rejects with a StateWriteError when that failed; writing the
   * newest value is then tried again until it succeeds. The caller must not change a value that it has passed.
   */
  write(value: T): Promise<void>;
  /** Why the newest value is not on disk; undefined when it is. */
  readonly problem: string | undefined;
}

const defaultLimitBytes = 16 * 1024 * 1024;

/** Opens nothing yet. Only one StateFile may exist for a path at a time, in one process. */
export function openStateFile<T extends object>(options: StateFileOptions<T>): StateFile<T> {
  const { path, what, formatVersion = 1, limitBytes = defaultLimitBytes, clock, log, writeFile } = options;
  const encode = (value: T) => encodeState(options.format?.(value) ?? value, formatVersion);
  const writer = new StateWriter({ path, what, encode, limitBytes, clock, log, writeFile });

  async function readWhole(): Promise<T> {
    await refuseForeign(path);
    const bytes = await readRegularFile(path, { limitBytes, noFollow: true });
    return options.parse(decodeState(bytes.toString('utf8'), formatVersion));
  }

  async function setDamagedAside(error: unknown): Promise<StateRead<T>> {
    const reason = describeError(error);
    try {
      const keptAs = await setAside(path, clock.now());
      log.warn({ path, keptAs }, `${what}: ${path} cannot be used (${reason}); it is set aside as ${keptAs}`);
      return { state: 'damaged', reason, keptAs };
    } catch (failure) {
      log.warn(
        { path, err: failure },
        `${what}: ${path} cannot be used (${reason}), nor set aside: ${describeError(failure)}`,
      );
      return { state: 'damaged', reason, keptAs: undefined };
    }
  }

  return {
    async read() {
      await removeDrafts(path).catch(() => undefined); // they do no harm
      try {
        return { state: 'value', value: await readWhole() };
      } catch (error) {
        return isAbsent(error) ? { state: 'absent' } : await setDamagedAside(error);
      }
    },
    write: (value) => writer.write(value),
    get problem() {
      return writer.problem;
    },
    [Symbol.asyncDispose]: () => writer.close(),
  };
}

/** Removes a state file that is no longer needed, with its temporary files. Throws when it cannot. */
export async function removeStateFile(path: string): Promise<void> {
  await removeDrafts(path);
  await rm(path, { force: true });
}

const isAbsent = (error: unknown): boolean => errorCode(error) === 'ENOENT';

/** Only a file that no user but this one or root can have written is trusted. */
async function refuseForeign(path: string): Promise<void> {
  const { uid, mode } = await lstat(path);
  const user = process.geteuid?.() ?? uid;
  if (uid !== user && uid !== 0) throw new Error(`belongs to user ${uid}, and this process runs as ${user}`);
  const isOpen = (mode & 0o170000) === 0o100000 && (mode & 0o022) !== 0;
  if (isOpen) throw new Error(`can be written by others, mode ${(mode & 0o7777).toString(8)}`);
}

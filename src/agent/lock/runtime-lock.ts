import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock, Logger } from '../../base/index.ts';
import {
  describeError,
  ExitError,
  errorCode,
  exitCodes,
  makeFolders,
  readRegularFile,
  tryParseRecord,
  writeFileAtomic,
} from '../../base/index.ts';
import type { Lock } from './acquire.ts';
import { acquireLock } from './acquire.ts';
import { folderPathOf } from './heartbeat.ts';
import { createProcessProbe } from './identity.ts';
import type { LockLabel } from './messages.ts';
import { createHeldError } from './messages.ts';
import { lstatIfThere, readFolder, readRecord, refuseForeign } from './record.ts';
import { findRuntimePlace } from './runtime-place.ts';

export interface RuntimeLockOptions {
  /** That of this agent: named to others, and how an agent that comes back is known. */
  readonly rootDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends the waiting for a lock whose state is not clear yet. */
  readonly signal?: AbortSignal;
  /** How long a lock may go without a heartbeat until it counts as abandoned; default 8 s. */
  readonly staleMs?: number;
  /** How long an agent that has ended may take to come back before one with another root folder takes its runtime; default 5 s. */
  readonly returnMs?: number;
  /** Where the locks are of sockets in folders that cannot be written; default `/run/nodeward`. */
  readonly otherDir?: string;
}

interface Claim {
  readonly done: Promise<void>;
  readonly atMs: number;
}

/** In the folder that `findRuntimePlace` names, or its place in `otherDir`. */
export const runtimeLockName = 'agent.lock';
/** The agent that held the lock last, and when it gave it back. */
const lastName = 'last-agent.json';
const lastLimitBytes = 8192;
/** How long it counts as known which runtime a path leads to. */
const knownMs = 5_000;
const defaultReturnMs = 5_000;
const defaultOtherDir = '/run/nodeward';

/**
 * Keeps two agents from using one container runtime: each would clean up after the other. A socket is claimed before its first
 * call; one that does not exist yet, when it has come. Closing gives all of them back.
 */
export class RuntimeLock implements AsyncDisposable {
  readonly #options: RuntimeLockOptions;
  /** By the path of a socket. */
  readonly #claims = new Map<string, Claim>();
  /** By the folder of the lock. */
  readonly #held = new Map<string, Promise<Lock | undefined>>();
  readonly #lost = new AbortController();

  constructor(options: RuntimeLockOptions) {
    this.#options = options;
  }

  /** Aborts, with an ExitError as its reason, when another agent uses a runtime of this one: stop in order. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Resolves when the runtime behind `socket` is this agent's, and when there is none. Rejects with an ExitError: `locked` when
   * another agent uses it (the message names the process), `unwritable` when it cannot be locked.
   */
  claim(socket: string): Promise<void> {
    const { clock } = this.#options;
    const known = this.#claims.get(socket);
    if (known !== undefined && clock.monotonicMs() - known.atMs < knownMs) return known.done;
    const done = this.#claim(socket);
    this.#claims.set(socket, { done, atMs: clock.monotonicMs() });
    done.catch((error: unknown) => {
      this.#claims.delete(socket);
      if (error instanceof ExitError) this.#lost.abort(error);
    });
    return done;
  }

  async close(): Promise<void> {
    const held = await Promise.allSettled(this.#held.values());
    this.#held.clear();
    for (const each of held) if (each.status === 'fulfilled') await this.#release(each.value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #claim(socket: string): Promise<void> {
    this.#lost.signal.throwIfAborted();
    const place = await findRuntimePlace(socket);
    if (place === undefined) {
      this.#claims.delete(socket); // it may come at any time
      return;
    }
    const taken = this.#held.get(place) ?? this.#take(place, socket);
    this.#held.set(place, taken);
    try {
      await taken;
    } catch (error) {
      this.#held.delete(place);
      throw error;
    }
  }

  /** Undefined where a full disk keeps it from being locked. */
  async #take(place: string, socket: string): Promise<Lock | undefined> {
    const label = labelOf(socket);
    const follow = (lock: Lock) => {
      lock.lost.addEventListener('abort', () => this.#takeAgain(place, socket, lock));
      return lock;
    };
    const { log, otherDir = defaultOtherDir } = this.#options;
    try {
      return follow(await this.#takeAt(place, label));
    } catch (error) {
      if (!(error instanceof ExitError) || error.exitCode !== exitCodes.unwritable) throw error;
      if (['ENOSPC', 'EDQUOT'].includes(errorCode(error.cause) ?? '')) {
        log.warn(
          { path: place },
          'the runtime cannot be locked, for the disk of its socket is full; running on',
        );
        return undefined;
      }
      await refuseHeld(join(place, runtimeLockName), label);
      const other = join(otherDir, `${basename(place)}-${digestOf(place)}`);
      const why = describeError(error);
      log.warn(
        { path: other },
        `the lock of the runtime cannot be beside its socket: ${why}; another place is used`,
      );
      return follow(await this.#takeAt(other, label));
    }
  }

  async #takeAt(place: string, label: LockLabel): Promise<Lock> {
    const { rootDir, clock, log, signal, staleMs } = this.#options;
    await makePlace(place);
    const path = join(place, runtimeLockName);
    await this.#waitForReturn(place, path);
    return await acquireLock({
      ...{ path, label, rootDir, clock, log },
      ...(signal === undefined ? {} : { signal }),
      ...(staleMs === undefined ? {} : { staleMs }),
    });
  }

  /** The folder of a runtime may go with its service. Where another agent was quicker, the runtime is lost. */
  #takeAgain(place: string, socket: string, lock: Lock): void {
    this.#held.delete(place);
    this.#claims.clear();
    this.#options.log.warn(`${describeError(lock.lost.reason)}; unless the runtime can be locked again`);
    void lock.close();
    void this.claim(socket).catch(() => undefined); // it aborts `lost`
  }

  /** The agent that had the runtime last may be restarted, or upgraded, just now. */
  async #waitForReturn(place: string, path: string): Promise<void> {
    const { rootDir, clock, log, signal, returnMs = defaultReturnMs } = this.#options;
    const last = await readLast(place, path);
    if (last === undefined || last.rootDir === rootDir) return;
    const restMs = returnMs - Math.abs(clock.now() - last.endedMs);
    if (restMs <= 0) return;
    log.info(
      `the agent with the root folder ${JSON.stringify(last.rootDir)} used this runtime until just now; it has ${Math.ceil(restMs / 1000)} s to come back`,
    );
    await clock.sleep(restMs, signal);
    signal?.throwIfAborted();
  }

  async #release(lock: Lock | undefined): Promise<void> {
    if (lock === undefined) return;
    const { rootDir, clock, log } = this.#options;
    try {
      const last = { rootDir, endedAt: new Date(clock.now()).toISOString() };
      if (!lock.lost.aborted)
        await writeFileAtomic(join(dirname(lock.path), lastName), `${JSON.stringify(last)}\n`);
    } catch (error) {
      log.debug(
        `the end of this agent could not be noted beside the lock of the runtime: ${describeError(error)}`,
      );
    }
    await lock.close();
  }
}

const labelOf = (socket: string): LockLabel => ({
  held: `uses the container runtime at ${socket}`,
  otherwise: 'Or give this agent a runtime of its own with --container-runtime-endpoint',
  flag: '--container-runtime-endpoint',
});

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Makes the folder of a lock, of this user alone. Throws an ExitError, `unwritable`, where that cannot be. */
async function makePlace(place: string): Promise<void> {
  try {
    await makeFolders(dirname(place));
    await mkdir(place, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST')
      throw new ExitError(exitCodes.unwritable, describeError(error), { cause: error });
  }
  const facts = await lstatIfThere(place);
  if (facts !== undefined) refuseForeign(place, facts, 'folder');
}

/** Throws where the lock, which this process can only read, is held by a process that lives. */
async function refuseHeld(path: string, label: LockLabel): Promise<void> {
  const probe = createProcessProbe();
  const record = await readRecord(path).catch(() => undefined);
  if (record !== undefined && (await probe.verdict(record)) === 'alive')
    throw await createHeldError(path, record, probe, label);
}

interface LastAgent {
  readonly rootDir: string;
  readonly endedMs: number;
}

/** The agent that held the lock last and is gone: a killed one has left its record and its last heartbeat. */
async function readLast(place: string, path: string): Promise<LastAgent | undefined> {
  const record = await readRecord(path);
  if (record?.rootDir !== undefined) {
    const folder = await readFolder(folderPathOf(path));
    const isGone = folder !== undefined && (await createProcessProbe().verdict(record)) === 'gone';
    return isGone ? { rootDir: record.rootDir, endedMs: folder.mtimeMs } : undefined;
  }
  const options = { limitBytes: lastLimitBytes, noFollow: true };
  const data = await readRegularFile(join(place, lastName), options).catch(() => undefined);
  const { rootDir, endedAt } = tryParseRecord(data?.toString() ?? '') ?? {};
  if (typeof rootDir !== 'string' || typeof endedAt !== 'string') return undefined;
  const endedMs = Date.parse(endedAt);
  return Number.isNaN(endedMs) ? undefined : { rootDir, endedMs };
}

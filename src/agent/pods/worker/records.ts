import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { errorCode, SharedFolderSync, writeFileAtomic } from '../../../base/index.ts';
import type { StateFile, StateRecord } from '../../../base/state-file/index.ts';
import { openStateFile, removeDraftsIn } from '../../../base/state-file/index.ts';
import { isPodUid } from '../names.ts';
import type { PodRecord } from '../plan/index.ts';
import { newRecord } from './record.ts';

export interface PodRecordsOptions {
  /** Absolute; it is made when it is missing. */
  folder: string;
  clock: Clock;
  log: Logger;
}

const maxRecords = 5000;

/** What the agent remembers of its pods: a state file for each, which stays until nothing of the pod is left. */
export class PodRecords implements AsyncDisposable {
  readonly #options: PodRecordsOptions;
  readonly #files = new Map<string, StateFile<PodRecord>>();
  readonly #folderSync = new SharedFolderSync();

  constructor(options: PodRecordsOptions) {
    this.#options = options;
  }

  /** Removes what is left of writes that were killed, of pods that are gone since too. To be called before the first write. */
  async removeDrafts(): Promise<void> {
    await removeDraftsIn(this.#options.folder).catch(() => undefined); // they do no harm
  }

  /** The uids of the pods that have a record. */
  async list(): Promise<readonly string[]> {
    try {
      const names = await readdir(this.#options.folder);
      const uids = names.flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []));
      return uids.filter(isPodUid).slice(0, maxRecords);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    }
  }

  /** Undefined: there is none. A damaged one is set aside; it still says that the pod was taken up. */
  async read(uid: string): Promise<PodRecord | undefined> {
    const found = await this.#file(uid).read();
    if (found.state === 'value') return found.value;
    if (found.state === 'damaged') return { ...newRecord(this.#options.clock.now()), isAdmitted: true };
    this.#files.delete(uid);
    return undefined;
  }

  /** Resolves when it is on disk. Rejects when it cannot be written now; it is tried again by itself. */
  async write(uid: string, record: PodRecord): Promise<void> {
    await this.#file(uid).write(record);
  }

  async remove(uid: string): Promise<void> {
    const file = this.#file(uid);
    this.#files.delete(uid);
    await file[Symbol.asyncDispose]();
    await rm(this.#path(uid), { force: true }); // of drafts none is left: `removeDrafts`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const open = [...this.#files.values()];
    this.#files.clear();
    await Promise.all(open.map((file) => file[Symbol.asyncDispose]()));
  }

  #file(uid: string): StateFile<PodRecord> {
    const known = this.#files.get(uid);
    if (known !== undefined) return known;
    const { clock, log } = this.#options;
    const file = openStateFile({
      ...{ path: this.#path(uid), what: `pod ${uid}`, parse, clock, log },
      writeFile: (path, text) => writeFileAtomic(path, text, { syncFolder: this.#folderSync.sync }),
    });
    this.#files.set(uid, file);
    return file;
  }

  #path(uid: string): string {
    if (!isPodUid(uid)) throw new Error(`${JSON.stringify(uid)} cannot be the uid of a pod`);
    return join(this.#options.folder, `${uid}.json`);
  }
}

/** Throws for members that no agent of this version writes: the file is then set aside. */
function parse(members: StateRecord): PodRecord {
  const { takenMs, isAdmitted, ips, containers, termination, sandboxAttempt, askedMs, isReleased } = members;
  const { manifestHash, isCleared, allocation, replaced, pendingResize } = members;
  if (typeof takenMs !== 'number' || typeof isAdmitted !== 'boolean')
    throw new Error('does not say when the pod was taken up');
  if (!Array.isArray(ips) || !isRecord(containers)) throw new Error('has no containers');
  return {
    takenMs,
    isAdmitted,
    ips: ips.filter((ip) => typeof ip === 'string'),
    containers: Object.fromEntries(
      Object.entries(containers).map(([name, each]) => [name, parseContainer(each)]),
    ),
    ...(typeof manifestHash === 'string' ? { manifestHash } : {}),
    ...(typeof sandboxAttempt === 'number' ? { sandboxAttempt } : {}),
    ...(typeof askedMs === 'number' ? { askedMs } : {}),
    ...(isReleased === true ? { isReleased } : {}),
    ...(isCleared === true ? { isCleared } : {}),
    ...(termination === undefined ? {} : { termination: parseTermination(termination) }),
    ...(isAllocation(allocation) ? { allocation } : {}),
    ...(isAllocation(allocation) && isAllocation(replaced) ? { replaced } : {}),
    ...(isPending(pendingResize) ? { pendingResize } : {}),
  };
}

function parseTermination(value: unknown): NonNullable<PodRecord['termination']> {
  const { cause, graceSeconds, sinceMs, reason, message, disruption } = isRecord(value) ? value : {};
  const isCause = cause === 'deleted' || cause === 'gone' || cause === 'failed';
  if (!isCause || typeof graceSeconds !== 'number' || typeof sinceMs !== 'number')
    throw new Error('does not say why the pod ends');
  return {
    ...{ cause, graceSeconds, sinceMs },
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof message === 'string' ? { message } : {}),
    ...(typeof disruption === 'string' ? { disruption } : {}),
  };
}

function parseContainer(value: unknown): PodRecord['containers'][string] {
  if (!isRecord(value)) throw new Error('has a container that is no object');
  const { attempt, made, loggedAttempt, backoff, lastExit, failure, restartOf, given, probed } = value;
  return {
    ...(typeof attempt === 'number' ? { attempt } : {}),
    ...(isMade(made) ? { made } : {}),
    ...(typeof loggedAttempt === 'number' ? { loggedAttempt } : {}),
    ...(typeof restartOf === 'string' ? { restartOf } : {}),
    ...(isBackoff(backoff) ? { backoff } : {}),
    ...(isExit(lastExit) ? { lastExit } : {}),
    ...(isFailure(failure) ? { failure } : {}),
    ...(isGivenTo(given) ? { given } : {}),
    ...(isProbed(probed) ? { probed } : {}),
  };
}

type Kept = Required<PodRecord['containers'][string]>;

const hasNumbers = (value: Record<string, unknown>, ...names: string[]) =>
  names.every((name) => typeof value[name] === 'number');
const hasTexts = (value: Record<string, unknown>, ...names: string[]) =>
  names.every((name) => typeof value[name] === 'string');

const isMade = (value: unknown): value is Kept['made'] =>
  isRecord(value) && hasNumbers(value, 'attempt', 'restartCount');

const isBackoff = (value: unknown): value is Kept['backoff'] =>
  isRecord(value) && hasTexts(value, 'key') && hasNumbers(value, 'waitMs', 'sinceMs');

const isExit = (value: unknown): value is Kept['lastExit'] =>
  isRecord(value) &&
  hasTexts(value, 'id', 'reason', 'message') &&
  hasNumbers(value, 'attempt', 'exitCode', 'finishedMs') &&
  (value.startedMs === undefined || typeof value.startedMs === 'number');

const isFailure = (value: unknown): value is Kept['failure'] =>
  isRecord(value) && hasTexts(value, 'reason', 'message') && hasNumbers(value, 'atMs', 'count');

const isOf = (value: unknown, isMember: (member: unknown) => boolean) =>
  isRecord(value) && Object.values(value).every(isMember);

const isQuantities = (value: unknown) =>
  value === undefined || isOf(value, (text) => typeof text === 'string');

const isGiven = (value: unknown): value is Kept['given']['resources'] =>
  isRecord(value) && isQuantities(value.requests) && isQuantities(value.limits);

const isGivenTo = (value: unknown): value is Kept['given'] =>
  isRecord(value) &&
  hasNumbers(value, 'attempt') &&
  isGiven(value.resources) &&
  (value.isUnsure === undefined || typeof value.isUnsure === 'boolean') &&
  (value.pod === undefined || isGiven(value.pod));

const isAllocation = (value: unknown): value is NonNullable<PodRecord['allocation']> =>
  isRecord(value) &&
  hasNumbers(value, 'generation') &&
  isOf(value.containers, isGiven) &&
  (value.pod === undefined || isGiven(value.pod));

const isPending = (value: unknown): value is NonNullable<PodRecord['pendingResize']> =>
  isRecord(value) &&
  (value.reason === 'Deferred' || value.reason === 'Infeasible') &&
  hasTexts(value, 'message') &&
  hasNumbers(value, 'sinceMs', 'generation');

const isProbed = (value: unknown): value is Kept['probed'] =>
  isRecord(value) &&
  hasTexts(value, 'id') &&
  typeof value['isStarted'] === 'boolean' &&
  typeof value['isReady'] === 'boolean';

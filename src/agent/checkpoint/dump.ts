import { version } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import { describeError, untilAborted } from '../../base/index.ts';
import type { ContainerFacts, FoundContainer, Pause, Runtime } from '../runtime/index.ts';
import { RuntimeError } from '../runtime/index.ts';
import type { Abandoned } from './abandoned.ts';
import type { ArchiveFolder, StoredCheckpoint } from './archive-folder.ts';
import { criuVersion, dumpLog, frozenMs, statsDump } from './criu-notes.ts';
import type { Digester } from './digest.ts';
import { createDigester } from './digest.ts';
import type { DigestAnswer } from './digest-reader.ts';
import type { DiskRoom, RoomOrder } from './disk-room.ts';
import type { Draft } from './draft.ts';
import { beginDraft, draftName } from './draft.ts';
import type { Target } from './errors.ts';
import { timedOut } from './errors.ts';
import { preparePrivateFolder } from './folder.ts';
import { checkpointId } from './names.ts';
import type { CheckpointRecord } from './record.ts';
import { recordFormat, writeRecord } from './record.ts';
import { readBootId } from './recover.ts';
import type { CheckpointSettings } from './settings.ts';
import type { TimeLimit } from './time-limit.ts';

export interface DumperOptions {
  runtime: Pick<Runtime, 'checkpoint' | 'inspect' | 'memoryBytes' | 'dumpFolders' | 'status'>;
  archives: ArchiveFolder;
  room: DiskRoom;
  abandoned: Abandoned;
  nodeName: string;
  settings(): CheckpointSettings;
  log: Logger;
  clock: Clock;
  /** The root of the file system, for the id of the boot. */
  root: string;
  /** Takes the ids of containers that may be frozen, by the names of their drafts. */
  pending: Map<string, string>;
}

export interface DumpOrder {
  target: Target;
  found: FoundContainer;
  requester: string;
  limit: TimeLimit;
}

/** A checkpoint that was made just now. */
export type MadeCheckpoint = StoredCheckpoint & { readonly record: CheckpointRecord };

/** Makes one archive from one running container; does not care how many are made at a time. */
export interface Dumper {
  dump(order: DumpOrder, cancel: AbortSignal): Promise<MadeCheckpoint>;
  /** Whether a dump works on that draft right now. */
  isActive(draft: string): boolean;
  /** Resolves when a dump has left a container that may be frozen since the last time, or when `cancel` aborts. */
  untilFrozen(cancel: AbortSignal): Promise<void>;
}

/** How many names in a row may be taken already. */
const nameTries = 1000;

export function createDumper(options: DumperOptions): Dumper {
  const { log, clock, pending, archives } = options;
  const active = new Set<string>();
  let frozen = Promise.withResolvers<void>();
  let named = 0;

  /** The first free name; the record must tell it, so it is written for each. */
  async function publish(
    draft: Draft,
    record: Omit<CheckpointRecord, 'id' | 'archive'>,
  ): Promise<MadeCheckpoint> {
    for (let tries = 0; tries < nameTries; tries += 1) {
      const id = checkpointId(record, Date.parse(record.startedAt), named++);
      const whole = { ...record, id, archive: `${id}.tar` };
      if (!(await archives.publish(id, await draft.writeRecord(writeRecord(whole))))) continue;
      const stored = await archives.read(id);
      if (stored === undefined) throw new Error(`${id} is gone already`);
      return { ...stored, record: whole };
    }
    throw new Error(`no free name for the archive in ${archives.path}`);
  }

  async function make(name: string, order: DumpOrder, cancel: AbortSignal): Promise<MadeCheckpoint> {
    const begun = { wallMs: clock.now(), monotonicMs: clock.monotonicMs() };
    const facts = await options.runtime.inspect(order.found.id);
    const needs = await needsOf(options, order, facts);
    using _room = await options.room.take(needs);
    await using digester = createDigester(needs.memoryBytes);
    await using draft = await begin(options, name, order, begun.wallMs);
    try {
      const pause = await fill(options, draft, order, facts, cancel);
      await draft.verify();
      const [digest] = await Promise.all([digestOf(digester, draft, cancel), draft.sync()]);
      const durationMs = clock.monotonicMs() - begun.monotonicMs;
      const times = { startedMs: begun.wallMs, durationMs };
      const made = await publish(draft, describe(options, order, facts, pause, digest, times));
      await discard(draft, false, log);
      return made;
    } catch (error) {
      await discard(draft, isStillFrozen(error), log);
      throw error;
    }
  }

  return {
    async dump(order, cancel) {
      // Before the draft is there, so that nobody takes it for one that was left behind.
      const name = draftName();
      let leftFrozen = false;
      active.add(name);
      try {
        return await make(name, order, cancel);
      } catch (error) {
        leftFrozen = isStillFrozen(error);
        if (leftFrozen) pending.set(name, order.found.id);
        throw error;
      } finally {
        active.delete(name);
        if (leftFrozen) frozen.resolve();
      }
    },
    isActive: (draft) => active.has(draft),
    async untilFrozen(cancel) {
      await Promise.race([frozen.promise, untilAborted(cancel)]);
      frozen = Promise.withResolvers();
    },
  };
}

/** Where nobody can tell how much memory the container has, only what must stay free is asked for. */
async function needsOf(
  { runtime, settings, archives, log }: DumperOptions,
  { target, found }: DumpOrder,
  { pid }: ContainerFacts,
): Promise<RoomOrder> {
  await preparePrivateFolder(archives.path, log);
  const unknown = (what: string) => (error: unknown) => {
    log.warn(
      { container: found.id, error: describeError(error) },
      `${what} is not known; room is looked for without it`,
    );
    return undefined;
  };
  const [memoryBytes = 0, folders = []] = await Promise.all([
    runtime.memoryBytes(found.id, pid).catch(unknown('the memory of a container')),
    runtime.dumpFolders().catch(unknown('where the container runtime puts its dumps')),
  ]);
  const places = [{ name: archives.path, path: archives.path }, ...folders];
  return { target, memoryBytes, places, reserve: settings().diskReserve };
}

async function begin(
  { archives, root }: DumperOptions,
  name: string,
  { target, found, requester }: DumpOrder,
  startedMs: number,
): Promise<Draft> {
  const { namespace, pod, container } = target;
  return await beginDraft(archives.path, name, {
    namespace,
    pod,
    container,
    id: found.id,
    podUid: found.podUid,
    requester,
    startedAt: new Date(startedMs).toISOString(),
    bootId: await readBootId(root),
  });
}

/** Has the runtime write the archive, for as long as the order allows. */
async function fill(
  { runtime, abandoned }: DumperOptions,
  draft: Draft,
  { target, found, limit }: DumpOrder,
  { pid }: ContainerFacts,
  cancel: AbortSignal,
): Promise<Pause> {
  const giveUp = AbortSignal.any([cancel, limit.over]);
  try {
    const hints = { pid, againUntilMs: abandoned.untilMs(found.id) };
    return await runtime.checkpoint(found.id, draft.archive, giveUp, hints);
  } catch (error) {
    if (giveUp.aborted) await abandoned.note(found.id);
    if (!limit.over.aborted || cancel.aborted || isStillFrozen(error)) throw error;
    throw timedOut(target, limit.seconds, error);
  }
}

/** Of what others choose freely. */
const textLimit = 512;
/** criu's log begins with its version, behind the names of its configuration files. */
const headLimitBytes = 16 * 1024;

function digestOf(digester: Digester, draft: Draft, cancel: AbortSignal): Promise<DigestAnswer> {
  return digester.digest({ path: draft.archive, heads: [dumpLog, statsDump], headLimitBytes }, cancel);
}

function describe(
  { runtime, nodeName }: DumperOptions,
  { target, found, requester }: DumpOrder,
  { image, imageRef }: ContainerFacts,
  { pausedMs }: Pause,
  { sha256, sizeBytes, heads }: DigestAnswer,
  { startedMs, durationMs }: { startedMs: number; durationMs: number },
): Omit<CheckpointRecord, 'id' | 'archive'> {
  const head = (name: string) => {
    const bytes = heads.get(name);
    return bytes && Buffer.from(bytes);
  };
  const { namespace, pod, container } = target;
  const { name, version: runtimeVersion } = runtime.status();
  const noted = pausedMs === undefined ? frozenMs(head(statsDump)) : undefined;
  const measured = pausedMs === undefined ? (noted === undefined ? 'none' : 'criu') : 'freezer';
  return {
    formatVersion: recordFormat,
    sha256,
    sizeBytes,
    node: nodeName,
    namespace,
    pod,
    podUid: found.podUid.slice(0, textLimit),
    container,
    containerId: found.id,
    image,
    imageRef,
    runtime: { name, version: runtimeVersion },
    criuVersion: criuVersion(head(dumpLog)),
    startedAt: new Date(startedMs).toISOString(),
    finishedAt: new Date(startedMs + durationMs).toISOString(),
    durationMs: Math.round(durationMs),
    pausedMs: Math.round(pausedMs ?? noted ?? 0),
    pausedMeasuredBy: measured,
    requester: requester.slice(0, textLimit),
    nodewardVersion: version.nodeward,
    pinned: false,
  };
}

/** The journal of a draft whose container may be frozen stays, and is looked after later. */
async function discard(draft: Draft, mayBeFrozen: boolean, log: Logger): Promise<void> {
  try {
    await draft.discard(mayBeFrozen);
  } catch (error) {
    log.error({ draft: draft.name, error: describeError(error) }, 'cannot remove a partial checkpoint');
  }
}

function isStillFrozen(error: unknown): boolean {
  return error instanceof RuntimeError && error.reason === 'stillFrozen';
}

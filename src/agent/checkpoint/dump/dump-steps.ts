/** The steps of a dump that one container's and a whole pod's have in common. */
import { rm } from 'node:fs/promises';
import { version } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { ContainerFacts, FoundContainer, Pause, Runtime } from '../../runtime/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import type { ArchiveFolder } from '../archive-folder.ts';
import type { Target } from '../errors.ts';
import { preparePrivateFolder } from '../folder.ts';
import type { CheckpointRecord } from '../record.ts';
import { recordFormat } from '../record.ts';
import { isSealing, readRecipients, sealFile } from '../sealing/index.ts';
import type { CheckpointSettings } from '../settings.ts';
import type { Abandoned } from './abandoned.ts';
import { criuVersion, dumpLog, frozenMs, statsDump } from './criu-notes.ts';
import type { Digester } from './digest.ts';
import type { DigestAnswer } from './digest-reader.ts';
import type { DiskRoom, RoomOrder } from './disk-room.ts';
import type { Draft } from './draft.ts';
import { beginDraft } from './draft.ts';
import type { DraftsUnderWay } from './drafts-under-way.ts';
import { readBootId } from './recover.ts';

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
  drafts: DraftsUnderWay;
}

/** Who wants what dumped. */
export interface DumpSubject {
  readonly target: Target;
  readonly found: FoundContainer;
  readonly requester: string;
}

/** A record before it has a name. */
export type UnnamedRecord = Omit<CheckpointRecord, 'id' | 'archive'>;

/** For whom archives are sealed now; nobody: they stay plain. Looked up before anything is paused. */
export async function recipientsOf({ settings }: DumperOptions): Promise<readonly string[]> {
  const { encryption } = settings();
  if (!isSealing(encryption)) return [];
  const recipients = await readRecipients(encryption);
  if (recipients.length === 0) throw new Error('archives are to be sealed, but nobody is named to open them');
  return recipients;
}

export interface Dumped extends DumpSubject {
  readonly draft: Draft;
  readonly digester: Digester;
  readonly recipients: readonly string[];
  readonly facts: ContainerFacts;
  readonly pause: Pause;
  readonly begun: { readonly wallMs: number; readonly monotonicMs: number };
}

/**
 * Makes of what the runtime has written a durable archive, sealed where that is asked for, and answers its record. The
 * plain archive is gone once the sealed one is durable.
 */
export async function finish(
  options: DumperOptions,
  dumped: Dumped,
  cancel: AbortSignal,
): Promise<UnnamedRecord> {
  const { draft, digester, recipients, begun } = dumped;
  await draft.verify();
  const digested = digestOf(digester, draft, cancel);
  const [digest] = await Promise.all([digested, recipients.length > 0 ? undefined : draft.sync()]);
  const sealed = recipients.length > 0 ? await seal(draft, recipients, digest, cancel) : {};
  const durationMs = options.clock.monotonicMs() - begun.monotonicMs;
  const record = describe(options, dumped, digest, { startedMs: begun.wallMs, durationMs });
  return { ...record, ...sealed };
}

async function seal(
  draft: Draft,
  recipients: readonly string[],
  { sha256: plainSha256, sizeBytes: plainSizeBytes }: DigestAnswer,
  cancel: AbortSignal,
): Promise<Pick<CheckpointRecord, 'sha256' | 'sizeBytes' | 'sealed'>> {
  const file = await sealFile({ from: draft.archive, to: draft.sealedArchive, recipients }, cancel);
  await rm(draft.archive);
  return { ...file, sealed: { format: 'age', recipients, plainSha256, plainSizeBytes } };
}

/** Where nobody can tell how much memory the container has, only what must stay free is asked for. */
export async function needsOf(
  { runtime, settings, archives, log }: DumperOptions,
  { target, found }: DumpSubject,
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

export async function begin(
  { archives, root }: DumperOptions,
  name: string,
  { target, found, requester }: DumpSubject,
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

/** Of what others choose freely. */
const textLimit = 512;
/** criu's log begins with its version, behind the names of its configuration files. */
const headLimitBytes = 16 * 1024;

function digestOf(digester: Digester, draft: Draft, cancel: AbortSignal): Promise<DigestAnswer> {
  return digester.digest({ path: draft.archive, heads: [dumpLog, statsDump], headLimitBytes }, cancel);
}

function describe(
  { runtime, nodeName }: DumperOptions,
  { target, found, requester, facts: { image, imageRef }, pause: { pausedMs } }: Dumped,
  { sha256, sizeBytes, heads }: DigestAnswer,
  { startedMs, durationMs }: { startedMs: number; durationMs: number },
): UnnamedRecord {
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
export async function discard(draft: Draft, mayBeFrozen: boolean, log: Logger): Promise<void> {
  try {
    await draft.discard(mayBeFrozen);
  } catch (error) {
    log.error({ draft: draft.name, error: describeError(error) }, 'cannot remove a partial checkpoint');
  }
}

export function isStillFrozen(error: unknown): boolean {
  return error instanceof RuntimeError && error.reason === 'stillFrozen';
}

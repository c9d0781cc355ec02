/** The steps that the dump of a container and the dump of a whole pod share. */
import { rm } from 'node:fs/promises';
import { version } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { ContainerFacts, FoundContainer, Pause, Runtime } from '../../runtime/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import type { ArchiveFolder } from '../archive-folder.ts';
import type { Target } from '../errors.ts';
import { createFailure } from '../errors.ts';
import { preparePrivateFolder } from '../private-folder.ts';
import type { CheckpointRecord } from '../record.ts';
import { recordFormat } from '../record.ts';
import { isSealing, readRecipients, sealFile } from '../sealing/index.ts';
import type { CheckpointSettings } from '../settings.ts';
import type { AbandonedDumps } from './abandoned-dumps.ts';
import type { ActiveDrafts } from './active-drafts.ts';
import { dumpLog, parseCriuVersion, parseFrozenMs, statsDump } from './criu-stats.ts';
import type { Digester } from './digest.ts';
import type { ArchiveDigest } from './digest-reader.ts';
import type { DiskSpace, SpaceRequest } from './disk-space.ts';
import type { Draft } from './draft.ts';
import { openDraft } from './draft.ts';
import { readBootId } from './recover.ts';
import type { StopGate } from './stop-gate.ts';

export interface DumperOptions {
  runtime: Pick<Runtime, 'checkpoint' | 'find' | 'inspect' | 'memoryBytes' | 'dumpFolders' | 'status'>;
  archives: ArchiveFolder;
  room: DiskSpace;
  abandoned: AbandonedDumps;
  nodeName: string;
  settings(): CheckpointSettings;
  log: Logger;
  clock: Clock;
  /** The root of the file system, for reading the id of the boot. */
  root: string;
  drafts: ActiveDrafts;
  stops: StopGate;
}

/** A container to dump, and who requested it. */
export interface DumpSubject {
  readonly target: Target;
  readonly found: FoundContainer;
  readonly requester: string;
}

/** The record of an archive that has no name yet. */
export type UnnamedRecord = Omit<CheckpointRecord, 'id' | 'archive'>;

/** The recipients of sealed archives; empty: archives stay plain. To be called before anything is paused. */
export async function resolveRecipients({ settings }: DumperOptions): Promise<readonly string[]> {
  const { encryption } = settings();
  if (!isSealing(encryption)) return [];
  const recipients = await readRecipients(encryption);
  if (recipients.length === 0) throw new Error('archives are to be sealed, but nobody is named to open them');
  return recipients;
}

interface DumpedArchive extends DumpSubject {
  readonly draft: Draft;
  readonly digester: Digester;
  readonly recipients: readonly string[];
  readonly facts: ContainerFacts;
  readonly pause: Pause;
  readonly begun: { readonly wallMs: number; readonly monotonicMs: number };
}

/**
 * Turns what the runtime has written into a durable archive, sealed if there are recipients, and returns its record. The
 * plain archive is removed once the sealed one is durable.
 */
export async function finishArchive(
  options: DumperOptions,
  dumped: DumpedArchive,
  cancel: AbortSignal,
): Promise<UnnamedRecord> {
  const { draft, digester, recipients, begun } = dumped;
  await draft.verify();
  const digested = computeDigest(digester, draft, cancel);
  const [digest] = await Promise.all([digested, recipients.length > 0 ? undefined : draft.sync()]);
  const sealed = recipients.length > 0 ? await sealArchive(draft, recipients, digest, cancel) : {};
  const durationMs = options.clock.monotonicMs() - begun.monotonicMs;
  const record = composeRecord(options, dumped, digest, { startedMs: begun.wallMs, durationMs });
  return { ...record, ...sealed };
}

async function sealArchive(
  draft: Draft,
  recipients: readonly string[],
  { sha256: plainSha256, sizeBytes: plainSizeBytes }: ArchiveDigest,
  cancel: AbortSignal,
): Promise<Pick<CheckpointRecord, 'sha256' | 'sizeBytes' | 'sealed'>> {
  const file = await sealFile({ from: draft.archive, to: draft.sealedArchive, recipients }, cancel);
  await rm(draft.archive);
  return { ...file, sealed: { format: 'age', recipients, plainSha256, plainSizeBytes } };
}

/** Where the container's memory is not known, it counts as 0: then only the reserve must be free. */
export async function computeSpaceRequest(
  { runtime, settings, archives, log }: DumperOptions,
  { target, found }: DumpSubject,
  { pid }: ContainerFacts,
): Promise<SpaceRequest> {
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

export async function openDraftFor(
  { archives, root }: DumperOptions,
  name: string,
  { target, found, requester }: DumpSubject,
  startedMs: number,
): Promise<Draft> {
  const { namespace, pod, container } = target;
  return await openDraft(archives.path, name, {
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

/** In characters, of texts that others choose freely. */
const maxTextLength = 512;
/** Enough for the version in criu's log, which comes after the names of its configuration files. */
const maxHeadBytes = 16 * 1024;

function computeDigest(digester: Digester, draft: Draft, cancel: AbortSignal): Promise<ArchiveDigest> {
  return digester.digest({ path: draft.archive, heads: [dumpLog, statsDump], maxHeadBytes }, cancel);
}

function composeRecord(
  { runtime, nodeName }: DumperOptions,
  { target, found, requester, facts: { image, imageRef }, pause: { pausedMs } }: DumpedArchive,
  { sha256, sizeBytes, heads }: ArchiveDigest,
  { startedMs, durationMs }: { startedMs: number; durationMs: number },
): UnnamedRecord {
  const head = (name: string) => {
    const bytes = heads.get(name);
    return bytes && Buffer.from(bytes);
  };
  const { namespace, pod, container } = target;
  const { name, version: runtimeVersion } = runtime.status();
  const noted = pausedMs === undefined ? parseFrozenMs(head(statsDump)) : undefined;
  const measured = pausedMs === undefined ? (noted === undefined ? 'none' : 'criu') : 'freezer';
  return {
    formatVersion: recordFormat,
    sha256,
    sizeBytes,
    node: nodeName,
    namespace,
    pod,
    podUid: found.podUid.slice(0, maxTextLength),
    container,
    containerId: found.id,
    image,
    imageRef,
    runtime: { name, version: runtimeVersion },
    criuVersion: parseCriuVersion(head(dumpLog)),
    startedAt: new Date(startedMs).toISOString(),
    finishedAt: new Date(startedMs + durationMs).toISOString(),
    durationMs: Math.round(durationMs),
    pausedMs: Math.round(pausedMs ?? noted ?? 0),
    pausedMeasuredBy: measured,
    requester: requester.slice(0, maxTextLength),
    nodewardVersion: version.nodeward,
    pinned: false,
  };
}

/** Keeps the journal of a draft whose container may be frozen: recovery thaws it. */
export async function discardDraft(draft: Draft, mayBeFrozen: boolean, log: Logger): Promise<void> {
  try {
    await draft.discard(mayBeFrozen);
  } catch (error) {
    log.error({ draft: draft.name, error: describeError(error) }, 'cannot remove a partial checkpoint');
  }
}

/** Settles as what the runtime does for the container does; when that fails because the container has ended, it says so. */
export async function explainingEnd<T>(
  { runtime }: DumperOptions,
  { target, found }: DumpSubject,
  step: Promise<T>,
  cancel: AbortSignal,
): Promise<T> {
  try {
    return await step;
  } catch (error) {
    const isOwn = error instanceof RuntimeError && (error.reason === 'failed' || error.reason === 'notFound');
    if (!isOwn || cancel.aborted) throw error;
    const { namespace, pod, container } = target;
    const now = await runtime.find(namespace, pod, container, cancel).catch(() => undefined);
    const isThere =
      now === undefined || (typeof now === 'object' && now.id === found.id && now.state !== 'exited');
    throw isThere ? error : createFailure('notRunning', target, 'it ended during its checkpoint', error);
  }
}

export function isStillFrozen(error: unknown): boolean {
  return error instanceof RuntimeError && error.reason === 'stillFrozen';
}

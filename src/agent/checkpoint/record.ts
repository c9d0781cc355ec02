import { isRecord } from '../../api/index.ts';
import type { Target } from './errors.ts';

/** The `formatVersion` of sidecars; a reader rejects any other. */
export const recordFormat = 1;

/** What is known about a checkpoint: the content of the sidecar file beside its archive. */
export interface CheckpointRecord extends Target {
  readonly formatVersion: typeof recordFormat;
  /** Never changes: the archive's name without `.tar`. */
  readonly id: string;
  /** The archive's name in the folder of checkpoints. */
  readonly archive: string;
  /** Digest of the archive, in hexadecimal digits. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly node: string;
  readonly podUid: string;
  /** The runtime's id of the container. */
  readonly containerId: string;
  /** The image as the container names it; empty when the runtime does not report it. */
  readonly image: string;
  /** The runtime's id of that image; empty when it does not report it. */
  readonly imageRef: string;
  readonly runtime: { readonly name: string; readonly version: string };
  /** From the archive's dump.log; empty when it is not there. */
  readonly criuVersion: string;
  /** RFC 3339: when the dump began, and when the archive was complete. */
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly durationMs: number;
  /** How long the workload stood still. */
  readonly pausedMs: number;
  /**
   * `freezer`: the container's freezer cgroup was watched, accurate to some milliseconds. `criu`: criu's own statistics,
   * without the pause that the runtime adds before and after. `none`: it could not be measured, pausedMs is 0.
   */
  readonly pausedMeasuredBy: 'freezer' | 'criu' | 'none';
  /** The user who requested it. */
  readonly requester: string;
  readonly nodewardVersion: string;
  /** Pinned: retention never removes it. */
  readonly pinned: boolean;
  /** Why it is pinned, in the words of the user who did so. */
  readonly pinReason?: string;
  /** The result of the last verification; unset where there was none. */
  readonly verified?: Verification;
  /** The id of its set: the checkpoints of all containers of the pod, of the same moment. */
  readonly set?: string;
  /** For whom the archive is sealed; unset for a plain archive. */
  readonly sealed?: Sealed;
}

/** `sha256` and `sizeBytes` of the record are those of the sealed file; here are those of the plain archive in it. */
interface Sealed {
  readonly format: 'age';
  /** `age1…` */
  readonly recipients: readonly string[];
  readonly plainSha256: string;
  readonly plainSizeBytes: number;
}

/** The result of reading an archive again. */
export interface Verification {
  /** RFC 3339. */
  readonly at: string;
  /** `damaged`: its content has changed since it was made, or it cannot be read. */
  readonly result: 'matches' | 'damaged';
  /** What is wrong with a damaged one. */
  readonly problem?: string;
}

/** The changes that a sidecar allows; a field that is undefined is removed. */
export interface RecordChange {
  readonly pinned?: boolean;
  readonly pinReason?: string | undefined;
  readonly verified?: Verification;
}

/** A sidecar that is not valid; `message` says why. */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord';
}

export function formatRecord(record: CheckpointRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}

/** Keeps fields that this version does not know. */
export function changeRecord(text: string, change: RecordChange): string {
  return `${JSON.stringify({ ...parseObject(text), ...change }, undefined, 2)}\n`;
}

/** Throws a DamagedRecord. */
export function parseRecord(text: string): CheckpointRecord {
  const value = parseObject(text);
  if (value['formatVersion'] !== recordFormat) {
    throw new DamagedRecord(
      `formatVersion is ${JSON.stringify(value['formatVersion'])}, not ${recordFormat}`,
    );
  }
  const runtime = isRecord(value['runtime']) ? value['runtime'] : {};
  const string = (name: string, from = value) => readString(from, name);
  const number = (name: string) => readNumber(value, name);
  const sha256 = readSha256(value, 'sha256');
  return {
    formatVersion: recordFormat,
    id: string('id'),
    archive: string('archive'),
    sha256,
    sizeBytes: number('sizeBytes'),
    node: string('node'),
    namespace: string('namespace'),
    pod: string('pod'),
    podUid: string('podUid'),
    container: string('container'),
    containerId: string('containerId'),
    image: string('image'),
    imageRef: string('imageRef'),
    runtime: { name: string('name', runtime), version: string('version', runtime) },
    criuVersion: string('criuVersion'),
    startedAt: string('startedAt'),
    finishedAt: string('finishedAt'),
    durationMs: number('durationMs'),
    pausedMs: number('pausedMs'),
    pausedMeasuredBy: readMeasure(string('pausedMeasuredBy')),
    requester: string('requester'),
    nodewardVersion: string('nodewardVersion'),
    pinned: value['pinned'] === true,
    ...(typeof value['pinReason'] === 'string' ? { pinReason: value['pinReason'] } : {}),
    ...readVerification(value['verified']),
    ...(typeof value['set'] === 'string' ? { set: value['set'] } : {}),
    ...(value['sealed'] === undefined ? {} : { sealed: readSealed(value['sealed']) }),
  };
}

function readSha256(value: Record<string, unknown>, name: string): string {
  const found = readString(value, name);
  if (!/^[0-9a-f]{64}$/.test(found)) throw new DamagedRecord(`${name} is no SHA-256`);
  return found;
}

/** Throws for an unknown format: a sealed archive must not be taken for a plain one. */
function readSealed(value: unknown): Sealed {
  if (!isRecord(value) || value['format'] !== 'age') throw new DamagedRecord('sealed is in no known format');
  const recipients: unknown = value['recipients'];
  return {
    format: 'age',
    recipients: Array.isArray(recipients) ? recipients.filter((each) => typeof each === 'string') : [],
    plainSha256: readSha256(value, 'plainSha256'),
    plainSizeBytes: readNumber(value, 'plainSizeBytes'),
  };
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new DamagedRecord('it is not JSON', { cause: error });
  }
  if (!isRecord(value)) throw new DamagedRecord('it is not an object');
  return value;
}

function readString(value: Record<string, unknown>, name: string): string {
  const found = value[name];
  if (typeof found === 'string') return found;
  throw new DamagedRecord(`${name} is no text`);
}

function readNumber(value: Record<string, unknown>, name: string): number {
  const found = value[name];
  if (typeof found === 'number' && Number.isFinite(found) && found >= 0) return found;
  throw new DamagedRecord(`${name} is no number from 0 on`);
}

function readVerification(value: unknown): Pick<CheckpointRecord, 'verified'> {
  if (!isRecord(value) || typeof value['at'] !== 'string') return {};
  const { at, result, problem } = value;
  if (result === 'matches') return { verified: { at, result } };
  if (result !== 'damaged') return {};
  return { verified: { at, result, ...(typeof problem === 'string' ? { problem } : {}) } };
}

function readMeasure(text: string): CheckpointRecord['pausedMeasuredBy'] {
  return text === 'freezer' || text === 'criu' ? text : 'none';
}

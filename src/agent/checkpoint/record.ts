import { isRecord } from '../../api/index.ts';
import type { Target } from './errors.ts';

/** What sidecars of this program's making state as `formatVersion`; one that a reader does not know is not read. */
export const recordFormat = 1;

/** What is known of a checkpoint: the content of the sidecar beside its archive. */
export interface CheckpointRecord extends Target {
  readonly formatVersion: typeof recordFormat;
  /** Names the checkpoint for good: the archive's name without `.tar`. */
  readonly id: string;
  /** The archive's name in the folder of checkpoints. */
  readonly archive: string;
  /** Of the archive, in hexadecimal digits. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly node: string;
  readonly podUid: string;
  /** The runtime's id of the container. */
  readonly containerId: string;
  /** The image as the container names it; empty when the runtime does not tell. */
  readonly image: string;
  /** The runtime's id of that image; empty when it does not tell. */
  readonly imageRef: string;
  readonly runtime: { readonly name: string; readonly version: string };
  /** As criu says of itself in the archive's dump.log; empty when it does not. */
  readonly criuVersion: string;
  /** RFC 3339, when the dump was begun and when the archive was complete. */
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly durationMs: number;
  /** How long the workload stood still. */
  readonly pausedMs: number;
  /**
   * `freezer`: the container's freezer cgroup was watched, to some milliseconds. `criu`: what criu has noted, which
   * leaves out what the runtime adds before and after. `none`: nobody could tell, pausedMs is 0.
   */
  readonly pausedMeasuredBy: 'freezer' | 'criu' | 'none';
  /** Who asked for it. */
  readonly requester: string;
  readonly nodewardVersion: string;
  /** Whether it is to be kept when others of its age are removed. */
  readonly pinned: boolean;
  /** Why it is pinned, in the words of whoever did it. */
  readonly pinReason?: string;
  /** What came of it when the archive was last read again; unset where it never was. */
  readonly verified?: Verification;
  /** Id of the set that it was made in: all containers of the pod, of one moment. */
  readonly set?: string;
  /** For whom the archive is sealed; unset where everybody can read it who can read the file. */
  readonly sealed?: Sealed;
}

/** `sha256` and `sizeBytes` of the record are those of the sealed file; here is what comes out when it is opened. */
export interface Sealed {
  readonly format: 'age';
  /** `age1…` */
  readonly recipients: readonly string[];
  readonly plainSha256: string;
  readonly plainSizeBytes: number;
}

/** What reading an archive again has shown. */
export interface Verification {
  /** RFC 3339. */
  readonly at: string;
  /** `damaged`: its content is not what it was when it was made, or it cannot be read. */
  readonly result: 'matches' | 'damaged';
  /** What is wrong with it. */
  readonly problem?: string;
}

/** What may change in a sidecar after it was made; a field that is undefined is taken out. */
export interface RecordChange {
  readonly pinned?: boolean;
  readonly pinReason?: string | undefined;
  readonly verified?: Verification;
}

/** A sidecar that makes no sense. */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord';
}

export function writeRecord(record: CheckpointRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}

/** Fields that this version does not know stay as they are. */
export function changeRecord(text: string, change: RecordChange): string {
  return `${JSON.stringify({ ...parseObject(text), ...change }, undefined, 2)}\n`;
}

/** Throws a DamagedRecord that says what is wrong with it. */
export function parseRecord(text: string): CheckpointRecord {
  const value = parseObject(text);
  if (value['formatVersion'] !== recordFormat) {
    throw new DamagedRecord(
      `formatVersion is ${JSON.stringify(value['formatVersion'])}, not ${recordFormat}`,
    );
  }
  const runtime = isRecord(value['runtime']) ? value['runtime'] : {};
  const string = (name: string, from = value) => stringOf(from, name);
  const number = (name: string) => numberOf(value, name);
  const sha256 = sha256Of(value, 'sha256');
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
    pausedMeasuredBy: measureOf(string('pausedMeasuredBy')),
    requester: string('requester'),
    nodewardVersion: string('nodewardVersion'),
    pinned: value['pinned'] === true,
    ...(typeof value['pinReason'] === 'string' ? { pinReason: value['pinReason'] } : {}),
    ...verificationOf(value['verified']),
    ...(typeof value['set'] === 'string' ? { set: value['set'] } : {}),
    ...(value['sealed'] === undefined ? {} : { sealed: sealedOf(value['sealed']) }),
  };
}

function sha256Of(value: Record<string, unknown>, name: string): string {
  const found = stringOf(value, name);
  if (!/^[0-9a-f]{64}$/.test(found)) throw new DamagedRecord(`${name} is no SHA-256`);
  return found;
}

/** Whoever does not know how an archive is sealed must not take it for a plain one. */
function sealedOf(value: unknown): Sealed {
  if (!isRecord(value) || value['format'] !== 'age') throw new DamagedRecord('sealed is in no known format');
  const recipients: unknown = value['recipients'];
  return {
    format: 'age',
    recipients: Array.isArray(recipients) ? recipients.filter((each) => typeof each === 'string') : [],
    plainSha256: sha256Of(value, 'plainSha256'),
    plainSizeBytes: numberOf(value, 'plainSizeBytes'),
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

function stringOf(value: Record<string, unknown>, name: string): string {
  const found = value[name];
  if (typeof found === 'string') return found;
  throw new DamagedRecord(`${name} is no text`);
}

function numberOf(value: Record<string, unknown>, name: string): number {
  const found = value[name];
  if (typeof found === 'number' && Number.isFinite(found) && found >= 0) return found;
  throw new DamagedRecord(`${name} is no number from 0 on`);
}

function verificationOf(value: unknown): Pick<CheckpointRecord, 'verified'> {
  if (!isRecord(value) || typeof value['at'] !== 'string') return {};
  const { at, result, problem } = value;
  if (result === 'matches') return { verified: { at, result } };
  if (result !== 'damaged') return {};
  return { verified: { at, result, ...(typeof problem === 'string' ? { problem } : {}) } };
}

function measureOf(text: string): CheckpointRecord['pausedMeasuredBy'] {
  return text === 'freezer' || text === 'criu' ? text : 'none';
}

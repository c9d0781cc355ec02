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
}

/** What may change in a sidecar after it was made. */
export type RecordChange = Partial<Pick<CheckpointRecord, 'pinned'>>;

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
  const sha256 = string('sha256');
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new DamagedRecord('sha256 is no SHA-256');
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

function measureOf(text: string): CheckpointRecord['pausedMeasuredBy'] {
  return text === 'freezer' || text === 'criu' ? text : 'none';
}

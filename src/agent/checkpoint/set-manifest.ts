import { isRecord } from '../../api/index.ts';
import type { CheckpointRecord } from './record.ts';
import { DamagedRecord } from './record.ts';

/** What manifests of this program's making state as `formatVersion`. */
export const manifestFormat = 1;

/** A member as it was made; what may change later stands in its own sidecar alone. */
export type SetMember = Omit<CheckpointRecord, 'pinned' | 'pinReason' | 'verified'>;

/** What is known of a set: the checkpoints of all running containers of a pod, of one moment. */
export interface SetManifest {
  readonly formatVersion: typeof manifestFormat;
  /** `checkpoint-POD_NAMESPACE-TIME`, the manifest's name without `.set.json`. */
  readonly id: string;
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  /** RFC 3339: begun; all members stood still from `frozenAt` to `releasedAt`; complete. */
  readonly startedAt: string;
  readonly frozenAt: string;
  readonly releasedAt: string;
  readonly finishedAt: string;
  readonly requester: string;
  readonly nodewardVersion: string;
  /** In the order in which they were frozen, which is that of their making. */
  readonly members: readonly SetMember[];
}

export function writeManifest(manifest: SetManifest): string {
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** What a reader of the folder must know of a manifest: whose it is. Throws a DamagedRecord when it makes no sense. */
export function parseManifest(text: string): SetManifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new DamagedRecord('it is not JSON', { cause });
  }
  if (!isManifest(value)) throw new DamagedRecord('it is not the manifest of a set');
  return value;
}

const texts = [
  'id',
  'node',
  'namespace',
  'pod',
  'podUid',
  'startedAt',
  'frozenAt',
  'releasedAt',
  'finishedAt',
  'requester',
  'nodewardVersion',
] as const;

function isManifest(value: unknown): value is SetManifest {
  if (!isRecord(value) || value['formatVersion'] !== manifestFormat) return false;
  const members: unknown = value['members'];
  return (
    texts.every((name) => typeof value[name] === 'string') &&
    Array.isArray(members) &&
    members.length > 0 &&
    members.every((member) => isRecord(member) && typeof member['id'] === 'string')
  );
}

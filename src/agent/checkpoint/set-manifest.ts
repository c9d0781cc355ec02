import { isRecord } from '../../api/index.ts';
import type { CheckpointRecord } from './record.ts';
import { DamagedRecord } from './record.ts';

/** The `formatVersion` of manifests; a reader rejects any other. */
export const manifestFormat = 1;

/** A member as it was made; fields that may change later are in its own sidecar only. */
export type SetMember = Omit<CheckpointRecord, 'pinned' | 'pinReason' | 'verified'>;

/** What is known about a set: the checkpoints of all running containers of a pod, of the same moment. */
export interface SetManifest {
  readonly formatVersion: typeof manifestFormat;
  /** `checkpoint-POD_NAMESPACE-TIME`, the manifest's name without `.set.json`. */
  readonly id: string;
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  /** RFC 3339. All members stood still from `frozenAt` to `releasedAt`. */
  readonly startedAt: string;
  readonly frozenAt: string;
  readonly releasedAt: string;
  readonly finishedAt: string;
  readonly requester: string;
  readonly nodewardVersion: string;
  /** In the order in which they were frozen, which is the order in which the containers were created. */
  readonly members: readonly SetMember[];
}

export function formatManifest(manifest: SetManifest): string {
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** Checks the fields of the set itself, and of its members the ids only. Throws a DamagedRecord. */
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

const textFields = [
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
    textFields.every((name) => typeof value[name] === 'string') &&
    Array.isArray(members) &&
    members.length > 0 &&
    members.every((member) => isRecord(member) && typeof member['id'] === 'string')
  );
}

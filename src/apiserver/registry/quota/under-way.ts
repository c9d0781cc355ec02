import type { ResourceQuota } from '../../../api/index.ts';
import { isRecord } from '../../../api/index.ts';
import type { Revision, State } from '../../storage/index.ts';
import { isReadable } from '../../storage/index.ts';

/** Names the writes that a quota has been charged for and that are not in the store yet. */
export const underWayAnnotation = 'nodeward.io/charges-under-way';

/**
 * A write that a quota has been charged for. It is done, and counted among the objects, when its key has the object with its uid.
 * A change is decided when its key is no longer at the revision that it expects; a creation is not: its name can become free again.
 */
export interface UnderWay {
  /** `SERVER/NUMBER`; the server is one run of one process. */
  readonly id: string;
  readonly key: string;
  /** The revision that the write expects; 0: that there is no such object. */
  readonly from: Revision;
  /** Of a new object. */
  readonly uid?: string;
  /** Quantities by resource. */
  readonly used: Readonly<Record<string, string>>;
}

/** Whether it is certain of a state whether the write was done. A uid is random: bytes that have it are of that object. */
export function isDecided({ from, uid = '' }: UnderWay, state: State | undefined): boolean {
  if (from !== 0) return state?.revision !== from;
  if (uid === '' || state === undefined || !isReadable(state)) return false;
  const { buffer, byteOffset, byteLength } = state.value;
  return Buffer.from(buffer, byteOffset, byteLength).includes(`"uid":"${uid}"`);
}

/** What is not of this form is as if it were not there. */
export function readUnderWay({ metadata }: ResourceQuota): UnderWay[] {
  const text = metadata?.annotations?.[underWayAnnotation];
  if (text === undefined) return [];
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.filter(isUnderWay) : [];
  } catch {
    return [];
  }
}

function isUnderWay(value: unknown): value is UnderWay {
  if (!isRecord(value) || !isRecord(value['used'])) return false;
  const { id, key, from, used } = value;
  const isNamed = typeof id === 'string' && typeof key === 'string' && Number.isSafeInteger(from);
  return isNamed && Object.values(used).every((quantity) => typeof quantity === 'string');
}

export function withUnderWay(quota: ResourceQuota, charges: readonly UnderWay[]): ResourceQuota {
  const { [underWayAnnotation]: _before, ...others } = quota.metadata?.annotations ?? {};
  const annotations =
    charges.length === 0 ? others : { ...others, [underWayAnnotation]: JSON.stringify(charges) };
  const { annotations: _annotations, ...metadata } = quota.metadata ?? {};
  const isEmpty = Object.keys(annotations).length === 0;
  return { ...quota, metadata: isEmpty ? metadata : { ...metadata, annotations } };
}

import type { ResourceQuota } from '../../../api/index.ts';
import { isRecord } from '../../../api/index.ts';
import type { Revision } from '../../storage/index.ts';

/** Names the writes that a quota has been charged for and that are not in the store yet. */
export const underWayAnnotation = 'nodeward.io/charges-under-way';

/**
 * A write that a quota has been charged for. It is decided, and counted among the objects when it was done, as soon as its
 * key is no longer at the revision that the write expects.
 */
export interface UnderWay {
  /** `SERVER/NUMBER`; the server is one run of one process. */
  readonly id: string;
  readonly key: string;
  /** The revision that the write expects; 0: that there is no such object. */
  readonly from: Revision;
  /** Quantities by resource. */
  readonly used: Readonly<Record<string, string>>;
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

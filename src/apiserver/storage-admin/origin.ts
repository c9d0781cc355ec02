import { isRecord } from '../../api/index.ts';
import type { StoreOrigin } from '../storage/index.ts';

/** How a store was created, for operators; undefined when it is the first one, or when that is unknown. */
export function describeOrigin(origin: StoreOrigin | null | undefined): string | undefined {
  if (!origin || origin.how === 'new') return undefined;
  const at = new Date(origin.atMs).toISOString();
  if (origin.how === 'restored') return `restored from a snapshot at ${at}`;
  return `created again at ${at}, because the store of this control plane was missing`;
}

/** Whether a part of a server's answer is an origin. */
export function isOrigin(value: unknown): value is StoreOrigin {
  return isRecord(value) && typeof value['how'] === 'string' && typeof value['atMs'] === 'number';
}

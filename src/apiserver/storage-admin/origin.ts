import { isRecord } from '../../api/index.ts';
import type { StoreOrigin } from '../storage/index.ts';

/** What people are to know of how a store came to be; undefined where it is the first one, or nobody knows. */
export function toldOrigin(origin: StoreOrigin | null | undefined): string | undefined {
  if (!origin || origin.how === 'new') return undefined;
  const at = new Date(origin.atMs).toISOString();
  if (origin.how === 'restored') return `restored from a snapshot at ${at}`;
  return `made anew at ${at}, because the store of this control plane was missing`;
}

/** What a server answered of it, if it is that. */
export function isOrigin(value: unknown): value is StoreOrigin {
  return isRecord(value) && typeof value['how'] === 'string' && typeof value['atMs'] === 'number';
}

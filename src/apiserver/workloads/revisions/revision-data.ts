import { isDeepStrictEqual } from 'node:util';
import type { ControllerRevision } from '../../../api/index.ts';
import { isRecord } from '../../../base/index.ts';

/*
 * What a revision keeps is a strategic merge patch that puts the template of pods back, as the reference writes it; clients
 * such as `kubectl rollout undo` apply it as it stands:
 *
 *     {"spec": {"template": {"$patch": "replace", "metadata": …, "spec": …}}}
 */

export type Fields = Readonly<Record<string, unknown>>;

/** The patch of a template as the API shows it, with its keys in order: the reference compares it by its bytes. */
export function revisionData(template: unknown): Fields {
  const fields = isRecord(template) ? template : {};
  return sorted({ spec: { template: { ...fields, $patch: 'replace' } } });
}

/** The template that a revision keeps; undefined where it keeps something else. */
export function keptTemplate({ data }: Pick<ControllerRevision, 'data'>): Fields | undefined {
  const spec = isRecord(data) ? data['spec'] : undefined;
  const template = isRecord(spec) ? spec['template'] : undefined;
  if (!isRecord(template)) return undefined;
  const { $patch: _patch, ...fields } = template;
  return fields;
}

/** Whether a revision keeps the same as `data`; that a field is null or missing is the same. */
export function keepsSame({ data: kept }: Pick<ControllerRevision, 'data'>, data: Fields): boolean {
  return isDeepStrictEqual(withoutNulls(kept), withoutNulls(data));
}

/** The letters and digits that stand for the ten digits in a hash, as in the reference. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** A hash for a name: FNV-1 of 32 bits of the JSON and the number of collisions that there were, in letters that make no words. */
export function hashData(data: Fields, collisions: number): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(JSON.stringify(data) + String(collisions)))
    hash = (Math.imul(hash, 0x01000193) ^ byte) >>> 0;
  return [...String(hash)].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('');
}

const maxOwnerLength = 223; // so that the name of the revision fits

export function revisionName(owner: string, hash: string): string {
  return `${owner.slice(0, maxOwnerLength)}-${hash}`;
}

function sorted(fields: Fields): Fields {
  const keys = Object.keys(fields).sort();
  return Object.fromEntries(keys.map((key) => [key, sortedValue(fields[key])]));
}

function sortedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedValue);
  return isRecord(value) ? sorted(value) : value;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutNulls(each)]));
}

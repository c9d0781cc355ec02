import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../../src/api/index.ts';
import { isRecord } from '../../../../src/api/index.ts';

/** The fields that somebody manages although the object does not have them: `B through status: f:metadata f:labels`. */
export function findMissingFields(object: ApiObject): string[] {
  return (object.metadata?.managedFields ?? []).flatMap(
    ({ manager, subresource = 'its own path', fieldsV1 = {} }) =>
      missingIn(object, fieldsV1).map((path) => `${manager} through ${subresource}: ${path}`),
  );
}

function missingIn(value: unknown, set: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(set).flatMap(([element, inner]) => {
    if (element === '.') return [];
    const held = partOf(value, element);
    if (held === undefined) return [element];
    return isRecord(inner) ? missingIn(held, inner).map((path) => `${element} ${path}`) : [];
  });
}

function partOf(value: unknown, element: string): unknown {
  const rest = element.slice(2);
  if (element.startsWith('f:'))
    return isRecord(value) && Object.hasOwn(value, rest) ? value[rest] : undefined;
  const wanted: unknown = JSON.parse(rest);
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  if (element.startsWith('v:')) return items.find((item) => isDeepStrictEqual(item, wanted));
  return items.find(
    (item) =>
      isRecord(item) && Object.entries(wanted ?? {}).every(([key, of]) => isDeepStrictEqual(item[key], of)),
  );
}

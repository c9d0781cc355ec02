import { isRecord } from '../../api/schema/index.ts';

/** Where a value was written. */
export type Origin =
  | { readonly kind: 'file'; readonly file: string; readonly line: number; readonly column: number }
  | { readonly kind: 'flag'; readonly flag: string }
  /** `as`: the field whose value it takes over. */
  | { readonly kind: 'default'; readonly as?: string };

export const defaultOrigin: Origin = { kind: 'default' };

export type Scalar = string | number | boolean | null;

/** A JSON value with the place where each of its parts was written. */
export type Located = LocatedScalar | LocatedList | LocatedMap;

export interface LocatedScalar {
  readonly type: 'scalar';
  readonly value: Scalar;
  readonly at: Origin;
}
export interface LocatedList {
  readonly type: 'list';
  readonly items: readonly Located[];
  readonly at: Origin;
}
export interface LocatedMap {
  readonly type: 'map';
  readonly entries: ReadonlyMap<string, Entry>;
  readonly at: Origin;
}
export interface Entry {
  readonly keyAt: Origin;
  readonly value: Located;
}

export const scalarOf = (value: Scalar, at: Origin): LocatedScalar => ({ type: 'scalar', value, at });
export const mapOf = (entries: Iterable<readonly [string, Entry]>, at: Origin): LocatedMap => ({
  type: 'map',
  entries: new Map(entries),
  at,
});
export const isNull = (value: Located) => value.type === 'scalar' && value.value === null;

/** The entries of the map that stands at `name`; none where there is no map. */
export function entriesOf(root: LocatedMap, name: string): Iterable<[string, Entry]> {
  const value = root.entries.get(name)?.value;
  return value?.type === 'map' ? value.entries : [];
}

/** A JSON value, all of which comes from one place. */
export function locate(value: unknown, at: Origin): Located {
  if (Array.isArray(value)) return { type: 'list', items: value.map((item) => locate(item, at)), at };
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return scalarOf(value, at);
  if (!isRecord(value)) return scalarOf(null, at);
  return mapOf(
    Object.entries(value).map(([key, inner]) => [key, { keyAt: at, value: locate(inner, at) }] as const),
    at,
  );
}

/** A fresh plain JSON value. */
export function toPlain(located: Located): unknown {
  if (located.type === 'scalar') return located.value;
  if (located.type === 'list') return located.items.map(toPlain);
  const plain: Record<string, unknown> = Object.create(null);
  for (const [key, entry] of located.entries) plain[key] = toPlain(entry.value);
  return plain;
}

export interface Location {
  readonly key: Origin;
  readonly value: Origin;
  /** A key with null: it states that the key is not there. */
  readonly deletes: boolean;
}

/** Where each part of a value was written, by its path: `webhook.cacheTTL`, `clusterDNS[0]`. */
export function locationsOf(root: Located): Map<string, Location> {
  const locations = new Map<string, Location>();
  const visit = (located: Located, path: string) => {
    if (located.type === 'list') {
      located.items.forEach((item, index) => {
        const inner = `${path}[${index}]`;
        locations.set(inner, { key: item.at, value: item.at, deletes: false });
        visit(item, inner);
      });
    } else if (located.type === 'map') {
      for (const [key, entry] of located.entries) {
        const inner = path === '' ? key : `${path}.${key}`;
        locations.set(inner, { key: entry.keyAt, value: entry.value.at, deletes: isNull(entry.value) });
        visit(entry.value, inner);
      }
    }
  };
  visit(root, '');
  return locations;
}

/** `/etc/nodeward/config.yaml:12`, `flag --port`, `default` or `default, as nodeStatusUpdateFrequency`. */
export function formatOrigin(origin: Origin): string {
  if (origin.kind === 'file') return `${origin.file}:${origin.line}`;
  if (origin.kind === 'flag') return `flag ${origin.flag}`;
  return origin.as === undefined ? 'default' : `default, as ${origin.as}`;
}

/**
 * Merges one layer of configuration over another (specification 2.7, which is JSON Merge Patch, RFC 7386): scalars
 * and lists replace as a whole, maps are merged by key at every depth, null deletes. Each value keeps its origin.
 */
export function mergeLayers(base: LocatedMap, over: LocatedMap): LocatedMap {
  const entries = new Map(base.entries);
  for (const [key, entry] of over.entries) {
    if (isNull(entry.value)) entries.delete(key);
    else entries.set(key, { keyAt: entry.keyAt, value: mergeValue(entries.get(key)?.value, entry.value) });
  }
  return mapOf(entries, over.at);
}

function mergeValue(base: Located | undefined, over: Located): Located {
  if (over.type !== 'map') return over;
  return mergeLayers(base?.type === 'map' ? base : mapOf([], over.at), over);
}

import { Buffer } from 'node:buffer';
import type { Kind } from '../../../src/api/index.ts';
import { apiVersionOf, encodeObject, isRecord } from '../../../src/api/index.ts';
import type { Chance } from './chance.ts';
import { mutateBytes, mutateObject } from './mutate.ts';
import { randomValue } from './random-object.ts';

const sorts = ['json', 'merge', 'strategic', 'apply'] as const;
type Sort = (typeof sorts)[number];
const mediaTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** The body of a PATCH that is nearly right, and now and then one that is made to cost much. */
export interface FuzzedPatch {
  mediaType: string;
  body: Buffer;
}

export function fuzzedPatch(kind: Kind, name: string, suffix: string, chance: Chance): FuzzedPatch {
  const sort = chance.pick(sorts);
  const mediaType = mediaTypes[sort];
  const type = { kind: kind.kind, apiVersion: apiVersionOf(kind, suffix) };
  if (chance.oneIn(400)) return { mediaType, body: Buffer.from(costly(sort, type, chance)) };
  const random = chance.oneIn(3) ? {} : randomValue(kind.root, chance); // of nothing but metadata some objects come
  const fields = isRecord(random) ? random : {};
  const patch = patchOf(sort, fields, { name, ...type }, chance);
  const changed = chance.oneIn(4) ? mutateObject(patch, chance) : patch;
  const isYaml = sort === 'apply' && chance.oneIn(2) && isRecord(changed);
  const bytes = isYaml ? encodeObject(kind, changed, 'yaml') : Buffer.from(JSON.stringify(changed));
  return { mediaType, body: chance.oneIn(8) ? mutateBytes(Buffer.from(bytes), chance) : Buffer.from(bytes) };
}

function patchOf(
  sort: Sort,
  fields: Record<string, unknown>,
  { name, ...type }: { name: string; kind: string; apiVersion: string },
  chance: Chance,
): unknown {
  switch (sort) {
    case 'json':
      return operations(fields, chance);
    case 'apply':
      return { ...fields, ...type, metadata: metadataOf(name, chance) };
    case 'strategic':
      return directed(withoutMetadata(fields, chance), chance);
    case 'merge':
      return withoutMetadata(fields, chance);
  }
}

/** Some labels, so that there is something that several manage. */
function metadataOf(name: string, chance: Chance): object {
  const labels = { [chance.pick(['a', 'b', 'c'])]: chance.pick(['1', '2']) };
  return { ...(name === '' ? {} : { name }), ...(chance.oneIn(2) ? {} : { labels }) };
}

/** What says of metadata that it is another object is mostly left out. */
function withoutMetadata(fields: Record<string, unknown>, chance: Chance): Record<string, unknown> {
  const { metadata, ...rest } = fields;
  if (chance.oneIn(6)) return { ...rest, metadata: metadata ?? {} };
  return { ...rest, metadata: metadataOf('', chance), ...(chance.oneIn(5) ? { spec: null } : {}) };
}

function operations(fields: Record<string, unknown>, chance: Chance): unknown[] {
  const places = [
    ...placesIn(fields, ''),
    '',
    '/',
    '/metadata/labels',
    '/spec',
    '/-',
    '/spec/__proto__/x',
    'spec',
    '/a~2',
  ];
  return Array.from({ length: chance.below(6) }, () => {
    if (chance.oneIn(2))
      return { op: 'add', path: '/metadata/labels', value: { a: chance.pick(['1', '2']) } };
    const op = chance.pick(['add', 'add', 'add', 'replace', 'remove', 'test', 'move', 'copy', 'bad']);
    const value = chance.oneIn(3) ? randomPart(fields, chance) : chance.pick([null, 1, 'x', [], {}, ['y']]);
    return { op, path: chance.pick(places), from: chance.pick(places), value };
  });
}

function randomPart(fields: Record<string, unknown>, chance: Chance): unknown {
  const keys = Object.keys(fields);
  return keys.length === 0 ? {} : fields[chance.pick(keys)];
}

function placesIn(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  const entries = Object.entries(value).slice(0, 8);
  return [
    path,
    ...entries.flatMap(([key, inner]) =>
      placesIn(inner, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
    ),
  ];
}

/** A strategic merge patch with directives here and there, of which few make sense. */
function directed(value: unknown, chance: Chance): unknown {
  if (Array.isArray(value)) {
    const items: unknown[] = value.map((item) => directed(item, chance));
    return chance.oneIn(4) ? [...items, { $patch: chance.pick(['replace', 'delete', 'merge', 7]) }] : items;
  }
  if (!isRecord(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    copy[key] = chance.oneIn(10) ? null : directed(inner, chance);
    if (chance.oneIn(8))
      copy[`$setElementOrder/${key}`] = chance.pick([[], inner, ['a'], [{ name: 'a' }], 'x']);
    if (chance.oneIn(12)) copy[`$deleteFromPrimitiveList/${key}`] = chance.pick([[], inner, ['a'], null]);
  }
  if (chance.oneIn(12)) copy['$patch'] = chance.pick(['replace', 'delete', 'merge', '', null]);
  if (chance.oneIn(12)) copy['$retainKeys'] = chance.pick([Object.keys(value), [], ['x'], 'x', [1]]);
  return copy;
}

/** Deep, long, or growing: each is a body of at most three megabytes. */
function costly(sort: Sort, type: object, chance: Chance): string {
  const depth = chance.pick([250, 300, 100_000]);
  const deep = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const long = `[${'1,'.repeat(500_000)}1]`;
  if (sort === 'json') return costlySteps(deep, long, chance);
  const fields = chance.pick([
    `"data":${deep}`,
    `"metadata":{"labels":${deep}}`,
    `"metadata":{"finalizers":${long}}`,
    `"spec":{"$setElementOrder/taints":${long},"taints":${long}}`,
    `"metadata":{"ownerReferences":[${'{"uid":"a"},'.repeat(100_000)}{"uid":"b"}]}`,
    Array.from({ length: 100_000 }, (_, at) => `"f${at}":null`).join(','),
  ]);
  return sort === 'apply' ? `${JSON.stringify(type).slice(0, -1)},${fields}}` : `{${fields}}`;
}

function costlySteps(deep: string, long: string, chance: Chance): string {
  const step = chance.pick([
    '{"op":"test","path":"","value":{}}',
    '{"op":"add","path":"/metadata/finalizers","value":[]}',
  ]);
  const list = `{"op":"add","path":"/spec","value":${long}}`;
  const repeated = (count: number, each: string) => `[${list},${Array(count).fill(each).join(',')}]`;
  return chance.pick([
    `[${Array(chance.pick([9_000, 50_000]))
      .fill(step)
      .join(',')}]`,
    repeated(9_999, '{"op":"add","path":"/spec/0","value":0}'),
    repeated(9_999, '{"op":"move","path":"/spec/-","from":"/spec/0"}'),
    repeated(9_999, '{"op":"copy","path":"/spec/-","from":"/spec"}'),
    `[${Array(5_000).fill('{"op":"copy","path":"/metadata/a","from":"/metadata"}').join(',')}]`,
    `[{"op":"add","path":"/spec","value":${deep}}]`,
    `[{"op":"remove","path":"${'/a'.repeat(500_000)}"}]`,
  ]);
}

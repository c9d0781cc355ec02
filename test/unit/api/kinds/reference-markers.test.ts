import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ListType, StructType, Type } from '../../../../src/api/schema/index.ts';
import { goldenTypes, readMarkers, readShapes, shapeNameOf } from '../codec/protobuf/golden.ts';

/*
 * How every list, map and struct of every description is merged, against the comments and tags of the reference's Go
 * types: `listType=map listMapKey=name patchStrategy=merge patchMergeKey=name`. Descriptions say the same in the same
 * words here, so that a difference reads as one.
 */

const markers = readMarkers();
const shapes = readShapes();

describe('how fields merge, against the reference', () => {
  for (const type of goldenTypes) {
    it(`agrees: ${type.kind} of ${type.apiVersion}`, () => {
      assert.deepEqual(structDifferences(type.root, shapeNameOf(type), type.kind, new Set()), []);
    });
  }

  it('is said of what is merged in every way there is', () => {
    const all = Object.values(markers).flatMap((fields) => Object.values(fields));
    for (const marker of [
      'listType=set patchStrategy=merge',
      'listType=map listMapKey=name',
      'listType=atomic patchStrategy=merge patchMergeKey=ip',
      'listType=map listMapKey=name patchStrategy=merge,retainKeys patchMergeKey=name',
      'mapType=atomic',
      'structType=atomic',
    ]) {
      assert.ok(all.includes(marker), marker);
    }
  });
});

function structDifferences(type: StructType, shape: string, path: string, seen: Set<string>): string[] {
  const seenKey = `${type.name} ${shape}`;
  if (seen.has(seenKey)) return [];
  seen.add(seenKey);
  const { '': ofType, ...ofFields } = markers[shape] ?? {};
  const own = type.atomic ? 'structType=atomic' : undefined;
  return [
    ...difference(path, own, ofType),
    ...Object.entries(type.fields).flatMap(([name, field]) => {
      const place = `${path}.${name}`;
      const goType = (shapes[shape]?.[name] ?? '').split(' ')[1] ?? '';
      if (ofFields[name] === 'structType=granular') {
        // of this field only, whatever the type says of itself
        return difference(
          place,
          field.type.t === 'struct' && !field.type.atomic ? ofFields[name] : 'none',
          ofFields[name],
        );
      }
      return [
        ...difference(place, markersOf(field.type), explicit(ofFields[name])),
        ...innerDifferences(field.type, goType, place, seen),
      ];
    }),
  ];
}

function difference(path: string, own: string | undefined, expected: string | undefined): string[] {
  return own === expected ? [] : [`${path}: ${own}, the reference has ${expected}`];
}

function innerDifferences(type: Type, goType: string, path: string, seen: Set<string>): string[] {
  if (type.t === 'ref') return innerDifferences(type.resolve(), goType, path, seen);
  if (type.t === 'list' || type.t === 'map') {
    const inner = goType.replace(/^\*?(\[\]|map:)/, '');
    // no type of a list within a list, or of a value of a map, has markers of its own
    return [
      ...difference(`${path}[]`, markersOf(type.of), undefined),
      ...innerDifferences(type.of, inner, path, seen),
    ];
  }
  if (type.t !== 'struct' || !goType.includes('#')) return [];
  return structDifferences(type, goType.replace(/^\*?#/, ''), path, seen);
}

/** What a description says; undefined where the value merges as it does when nothing is said. */
function markersOf(type: Type): string | undefined {
  if (type.t === 'map') return type.atomic ? 'mapType=atomic' : undefined;
  if (type.t === 'struct') return type.patch === undefined ? undefined : `patchStrategy=${type.patch}`;
  if (type.t !== 'list') return undefined;
  return explicit([...listMarkers(type), ...patchMarkers(type)].join(' '));
}

function listMarkers({ list, keys = [] }: ListType): string[] {
  return [`listType=${list}`, ...keys.map((key) => `listMapKey=${key}`)];
}

function patchMarkers({ patch = {} }: ListType): string[] {
  const strategies = [...(patch.merge ? ['merge'] : []), ...(patch.retainKeys ? ['retainKeys'] : [])];
  return [
    ...(strategies.length === 0 ? [] : [`patchStrategy=${strategies.join()}`]),
    ...(patch.key === undefined ? [] : [`patchMergeKey=${patch.key}`]),
  ];
}

/** A list of which nothing is said is atomic, and a map is not. */
function explicit(marker: string | undefined): string | undefined {
  return marker === 'listType=atomic' || marker === 'mapType=granular' ? undefined : marker;
}

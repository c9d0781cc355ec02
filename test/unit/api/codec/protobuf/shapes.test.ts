import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Field, StructType, Type } from '../../../../../src/api/schema/index.ts';
import { goldenTypes, readShapes, shapeNameOf } from './golden.ts';

/*
 * Every field of every description against the reference's Go types: number, type, and whether it is a pointer where
 * that matters. One wrong number would show in no round trip.
 */

const shapes = readShapes();

/** Served here, but younger than the release that the shapes were read off. */
const younger: readonly string[] = ['TokenRequest.spec.attestations'];

describe('the descriptions, field by field, against the reference', () => {
  for (const type of goldenTypes) {
    it(`agree: ${type.kind} of ${type.apiVersion}`, () => {
      const differences = differencesIn(type.root, shapeNameOf(type), type.kind, new Set());
      assert.deepEqual(differences, []);
    });
  }
});

function differencesIn(type: StructType, shapeName: string, path: string, seen: Set<string>): string[] {
  const seenKey = `${type.name} ${shapeName}`;
  if (seen.has(seenKey)) return [];
  seen.add(seenKey);
  const shape = shapes[shapeName];
  if (shape === undefined) return [`${path}: the reference has no ${shapeName}`];
  const fields = Object.entries(type.fields).filter(([, { proto }]) => proto !== 0);
  const missing = Object.keys(shape).filter((name) => !(name in type.fields));
  return [
    ...missing.map((name) => `${path}.${name}: not described, the reference has ${shape[name]}`),
    ...fields.flatMap(([name, field]) => fieldDifferences(field, shape[name], `${path}.${name}`, seen)),
  ];
}

function fieldDifferences(
  field: Field,
  expected: string | undefined,
  path: string,
  seen: Set<string>,
): string[] {
  if (expected === undefined)
    return younger.includes(path) ? [] : [`${path}: the reference has no such field`];
  const [number, expectedType = ''] = expected.split(' ');
  const ownNumber = [field.within ?? [], field.proto].flat().join('.');
  const wrongNumber = ownNumber === number ? [] : [`${path}: number ${ownNumber}, expected ${number}`];
  const isPointer = expectedType.startsWith('*');
  const own = zeroMatters(field) && field.pointer === true;
  const wrongPointer =
    zeroMatters(field) && own !== isPointer ? [`${path}: pointer ${own}, expected ${isPointer}`] : [];
  const inner = typeDifferences(field.type, isPointer ? expectedType.slice(1) : expectedType, path, seen);
  return [...wrongNumber, ...wrongPointer, ...inner];
}

/** Where `pointer` decides whether a zero is kept. */
function zeroMatters({ type, required }: Field): boolean {
  return !required && ['string', 'bool', 'int32', 'int64', 'double', 'bytes'].includes(type.t);
}

function typeDifferences(type: Type, expected: string, path: string, seen: Set<string>): string[] {
  if (type.t === 'ref') return typeDifferences(type.resolve(), expected, path, seen);
  if (type.t === 'list' && expected.startsWith('[]'))
    return typeDifferences(type.of, expected.slice(2), `${path}[]`, seen);
  if (type.t === 'map' && expected.startsWith('map:'))
    return typeDifferences(type.of, expected.slice(4), `${path}[]`, seen);
  if (type.t === 'struct' && expected.startsWith('#'))
    return differencesIn(type, expected.slice(1), path, seen);
  return type.t === expected ? [] : [`${path}: ${type.t}, expected ${expected}`];
}

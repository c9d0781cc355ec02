import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toGranularType } from '../../../../src/api/apply/granular-type.ts';
import { toTrackedType } from '../../../../src/api/apply/tracked-type.ts';
import { servedKinds } from '../../../../src/api/index.ts';
import type { Field, Type } from '../../../../src/api/schema/index.ts';
import { goldenTypes, readShapes, shapeNameOf } from '../codec/protobuf/golden.ts';

const shapes = readShapes();

/** Paths of the structs below a type of which the description and the Go type disagree whether they are always there. */
function disagreements(type: Type, shape: string, path: string): string[] {
  const parts = toGranularType(type);
  if (parts === undefined) return [];
  if (parts.t !== 'struct') return disagreements(parts.of, shape, `${path}[]`);
  return Object.entries(parts.fields).flatMap(([name, field]) => {
    const goes = shapes[shape]?.[name]?.split(' ')[1] ?? '';
    const below = goes.slice(goes.indexOf('#') + 1);
    const here = isAlwaysThere(field) === goes.startsWith('#') ? [] : [`${path}.${name}: ${goes}`];
    return [...here, ...disagreements(field.type, below, `${path}.${name}`)];
  });
}

function isAlwaysThere({ type, required, default: otherwise }: Field): boolean | undefined {
  if (toGranularType(type)?.t !== 'struct') return false;
  return required || typeof otherwise === 'object';
}

test('a struct is always there where the reference’s Go type is no pointer', () => {
  let checked = 0;
  for (const golden of goldenTypes) {
    const isStored = servedKinds.some(
      ({ kind, root, verbs }) => kind === golden.kind && root === golden.root && verbs.includes('patch'),
    );
    if (!isStored) continue;
    checked++;
    const found = disagreements(toTrackedType(golden.root), shapeNameOf(golden), golden.kind);
    // atomic ones are owned as a whole, so for them it is of no consequence
    const isAtomic = (path: string) =>
      /(involvedObject|regarding|roleRef|service\.port|spec\.podSelector): #/.test(path) ||
      path.endsWith('scaleTargetRef: #autoscaling/v1.CrossVersionObjectReference');
    assert.deepEqual(
      found.filter((path) => !isAtomic(path)),
      [],
    );
  }
  assert.ok(checked > 10, `${checked} kinds`);
});

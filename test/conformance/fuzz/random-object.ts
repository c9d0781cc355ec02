import type { Scalar, Type } from '../../../src/api/schema/index.ts';
import type { Chance } from './chance.ts';

const samples: Readonly<Record<Scalar, readonly unknown[]>> = {
  string: [
    'a',
    'b',
    'some-name',
    '',
    'Always',
    'User',
    'True',
    'x'.repeat(300),
    'ü',
    '*',
    '/healthz/*',
    'k8s.io/x',
  ],
  bool: [true, false],
  int32: [0, 1, -1, 80, 40, 2_147_483_647],
  int64: [0, 1, -1, 30, 9_007_199_254_740_991],
  double: [0, 1.5, -2],
  bytes: ['', 'YQ==', 'AAEC'],
  time: ['2026-01-02T03:04:05Z'],
  microTime: ['2026-01-02T03:04:05.000006Z'],
  duration: ['1m30s', '0s'],
  quantity: ['1', '500m', '16Gi', '-1', '1e3'],
  intOrString: [80, 'http', -1],
  fieldsV1: [{}, { 'f:metadata': {} }],
  raw: [{}, { a: [1, null] }],
};
const deepest = 7;

/** A value that has the types of a description, with or without sense. */
export function randomValue(type: Type, chance: Chance, depth = 0): unknown {
  switch (type.t) {
    case 'struct':
      return randomStruct(type, chance, depth);
    case 'ref':
      return depth > deepest ? {} : randomValue(type.resolve(), chance, depth + 1);
    case 'list':
      return Array.from({ length: sizeAt(depth, chance) }, () => randomValue(type.of, chance, depth + 1));
    case 'map':
      return Object.fromEntries(
        Array.from({ length: sizeAt(depth, chance) }, () => [
          chance.pick(['a', 'b', 'app.kubernetes.io/name', '', 'no good', 'cpu']),
          randomValue(type.of, chance, depth + 1),
        ]),
      );
    default:
      return chance.pick(samples[type.t]);
  }
}

function randomStruct(type: Extract<Type, { t: 'struct' }>, chance: Chance, depth: number): object {
  const object: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(type.fields)) {
    if (field.proto === 0) continue;
    const wanted = field.required ? !chance.oneIn(10) : depth < deepest && chance.oneIn(depth < 2 ? 2 : 5);
    if (wanted) object[name] = randomValue(field.type, chance, depth + 1);
  }
  return object;
}

function sizeAt(depth: number, chance: Chance): number {
  return depth > deepest ? 0 : chance.below(3);
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeMessage, encodeMessage } from '../../../../src/api/codec/protobuf/index.ts';
import type { Pod } from '../../../../src/api/index.ts';
import { findMissingFields, podChangeCauses, podKind, toTable } from '../../../../src/api/index.ts';
import type { Type } from '../../../../src/api/schema/index.ts';
import { made } from './pod-examples.ts';

/** Words that mean something to one rule or another. */
const words = fc.constantFrom(
  ...[
    '',
    'a',
    'main',
    'A b',
    'Always',
    'Never',
    'Localhost',
    'In',
    'Exists',
    'Gt',
    'NoExecute',
    'v1',
    'None',
  ],
  ...[
    '../x',
    '/a',
    'a/b',
    '1.2.3.4',
    'metadata.name',
    'limits.cpu',
    'example.com/x',
    'Bidirectional',
    'True',
  ],
);

const scalars: Partial<Record<Type['t'], fc.Arbitrary<unknown>>> = {
  bool: fc.boolean(),
  int32: fc.constantFrom(-1, 0, 1, 80, 70000, 2 ** 31 - 1),
  int64: fc.constantFrom(-1, 0, 1, 600, Number.MAX_SAFE_INTEGER),
  time: fc.constant('2024-01-01T00:00:00Z'),
  quantity: fc.constantFrom('0', '1', '-1', '500m', '1Gi', '1e9999', '0.1n'),
  intOrString: fc.oneof(fc.constantFrom(0, 80), words),
  fieldsV1: fc.constant({}),
};

/** Any value of a type: spec and status are always there, below them a field now and then. */
function anyOf(type: Type, depth = 0): fc.Arbitrary<unknown> {
  if (type.t === 'list') return fc.array(anyOf(type.of, depth), { maxLength: 2 });
  if (type.t === 'map')
    return fc.dictionary(words, anyOf(type.of, depth), { maxKeys: 2, noNullPrototype: true });
  if (type.t !== 'struct') return scalars[type.t] ?? words;
  const fields = Object.entries(type.fields).filter(([, { proto }]) => proto !== 0);
  const entries = fields.map(([name, field]): [string, fc.Arbitrary<unknown>] => {
    const value = anyOf(field.type, depth + 1);
    const absent = { arbitrary: fc.constant(undefined), weight: field.required || depth === 0 ? 0 : 3 };
    return [name, fc.oneof(absent, { arbitrary: value, weight: 1 })];
  });
  return fc.record(Object.fromEntries(entries)).map((value) => JSON.parse(JSON.stringify(value)));
}

const anyPod = anyOf(podKind.root).map((value) => made(Object(value)));
const paths = ['', 'status', 'ephemeralcontainers', 'binding'];

test('whatever a pod says is answered, not broken by', () => {
  fc.assert(
    fc.property(anyPod, anyPod, (pod, other) => {
      if (findMissingFields(podKind.root, pod).length > 0) return;
      for (const cause of podKind.validate(pod, undefined)) {
        assert.match(cause.field, /^spec/);
        assert.ok(cause.message.length < 4096);
      }
      podKind.warnings(pod, undefined);
      if (findMissingFields(podKind.root, other).length > 0) return;
      podKind.validate(pod, other);
      for (const path of paths) podChangeCauses(pod, other, path);
    }),
    { numRuns: 60 },
  );
});

test('a pod as it is has a row, defaults that are there already, and no change in itself', () => {
  fc.assert(
    fc.property(anyPod, (pod) => {
      const options = { groupSuffix: 'k8s.io', include: 'Object', now: 0, headers: true } as const;
      const [row] = toTable(podKind, [pod], {}, options).rows;
      assert.ok(row?.cells.every((cell) => typeof cell === 'string'));
      for (const { value } of podKind.selectable) assert.equal(typeof value(pod), 'string');
      assert.deepEqual(podKind.default(structuredClone(pod)), pod);
      assert.deepEqual(podKind.validate(structuredClone(pod), pod).filter(isOfChange), []);
      assert.deepEqual(podChangeCauses(structuredClone(pod), pod, '').filter(isOfChange), []);
    }),
    { numRuns: 60 },
  );
});

function isOfChange({ message }: { message: string }): boolean {
  return message.includes('pod updates may not');
}

test('a pod that comes back over the wire of a Go client is unchanged', () => {
  fc.assert(
    fc.property(anyPod, (pod) => {
      const { metadata: _metadata, ...rest } = pod;
      const back: Pod = decodeMessage(podKind.root, encodeMessage(podKind.root, rest));
      assert.deepEqual(podChangeCauses(podKind.default(back), pod, '').filter(isOfChange), []);
    }),
    { numRuns: 60 },
  );
});

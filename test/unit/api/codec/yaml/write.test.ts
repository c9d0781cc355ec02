import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { CORE_SCHEMA, load, YAML11_SCHEMA } from 'js-yaml';
import { parse } from 'yaml';
import { parseYaml } from '../../../../../src/api/codec/yaml/read.ts';
import { writeYaml } from '../../../../../src/api/index.ts';

/** Readers of both versions of YAML; between them they take everything for something that anybody does. */
const readers: Record<string, (text: string) => unknown> = {
  ours: (text) => parseYaml(text).value,
  'js-yaml, 1.2': (text) => load(text, { schema: CORE_SCHEMA, maxDepth: 300 }),
  'js-yaml, 1.1': (text) => load(text, { schema: YAML11_SCHEMA, maxDepth: 300 }),
  'yaml, 1.2': (text) => parse(text, { version: '1.2' }),
  'yaml, 1.1': (text) => parse(text, { version: '1.1' }),
};

function assertReadsSame(value: unknown): void {
  const text = writeYaml(value);
  for (const [name, read] of Object.entries(readers)) assert.deepEqual(read(text), value, `${name}: ${text}`);
}

test('an object is written in blocks, its keys in alphabetical order', () => {
  const role = {
    kind: 'ClusterRole',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: {
      name: 'reader',
      creationTimestamp: '2024-01-01T00:00:00Z',
      labels: { app: 'a b', on: 'yes', empty: '' },
      annotations: { script: 'one\n\n  two\n', cut: 'one\ntwo', odd: ' one\n' },
      finalizers: [],
    },
    rules: [
      { verbs: ['get', 'list'], nonResourceURLs: ['/healthz', '/api/*', '*'] },
      { matrix: [[1, -2.5], [], {}], nothing: null, ok: true },
    ],
    undefined: undefined,
  };
  assert.equal(
    writeYaml(role),
    `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  annotations:
    cut: |-
      one
      two
    odd: " one\\n"
    script: |
      one

        two
  creationTimestamp: "2024-01-01T00:00:00Z"
  finalizers: []
  labels:
    app: a b
    empty: ""
    "on": "yes"
  name: reader
rules:
- nonResourceURLs:
  - /healthz
  - /api/*
  - "*"
  verbs:
  - get
  - list
- matrix:
  - - 1
    - -2.5
  - []
  - {}
  nothing: null
  ok: true
`,
  );
});

test('what is no collection stands alone', () => {
  for (const value of [null, true, 0, 'x', '', 'a\nb', [], {}]) assertReadsSame(value);
});

/** What somebody could take for something else than a string. */
const tricky =
  'yes no on off y n Y N true false True FALSE null Null ~ 1 -1 +1 0 012 0o14 0x1F 0b11 1_000 1e3 1E3 1.5 .5 1. -.5 .inf -.inf +.inf .nan .NaN .INF 2001-01-01 2001-01-01T00:00:00Z 1:20 190:20:30 12:30:45.5 = << ! & * - -- --- ... ? : , [ ] { } # | > % @ ` " \' a: a:b :a a#b #a a-b -a --a ---a ?a !a &a *a %a @a [a] {a} "a" \'a\' a, .a ..a .5a 1.2.3 10.0.0.1 5Gi 500m 1e3Mi 0xg 08 1,000 +a a+ é 日本 😀 😀a e10 1e 123e4567-e89b-12d3 Infinity NaN -Infinity \\n a\\b'.split(
    ' ',
  );

describe('a string', () => {
  test('is read as itself by everybody, as a value and as a key', () => {
    for (const text of [
      ...tricky,
      'a: b',
      'a #b',
      'a\t#b',
      ' a',
      'a ',
      '- a',
      '? a',
      'a\n',
      'a\nb',
      'a\n\nb\n\n',
      '\na',
      'a \nb',
      '\ta\nb',
    ]) {
      const key = text.includes('\\') ? 'key' : text; // as a key it is refused
      assertReadsSame({ [key]: text, list: [text, [text], { [key]: text }] });
    }
  });

  test('of one character is read as itself', () => {
    const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code));
    for (const character of [...all, '\u{fffd}', '\ufeff', '\u{1f600}', '\u{e000}', '\u{10fffd}']) {
      const text = `a${character}b`;
      const written = writeYaml([character, text]);
      assert.deepEqual(parseYaml(written).value, [character, text], JSON.stringify(written));
      assert.deepEqual(load(written, { schema: YAML11_SCHEMA }), [character, text], JSON.stringify(written));
    }
  });

  test('stands without quotes where nobody could mistake it', () => {
    for (const text of [
      'get',
      'system:node:a',
      'registry.k8s.io/pause:3.10',
      '/var/lib',
      '--foo=bar',
      'a b',
      '.dockerconfigjson',
      'metadata.name',
      '5Gi',
      "it's",
      'é',
    ]) {
      assert.equal(writeYaml(text), `${text}\n`);
    }
  });
});

test('every value is read as itself by everybody', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom(...tricky),
    fc.stringMatching(/^[ab\n\t :#-]{0,10}$/),
  );
  const number = fc
    .oneof(fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
    .map((value) => value + 0);
  const key = text.filter((name) => name !== '__proto__' && !name.includes('\\')); // js-yaml and yaml differ there
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      text,
      number,
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value')),
      fc.dictionary(key, tie('value'), { noNullPrototype: true }),
    ),
  }));
  fc.assert(fc.property(value, assertReadsSame), { numRuns: 1500 });
});

test('a key may be very long, and a value very deep', () => {
  assertReadsSame({ [`k:${'x'.repeat(3000)}`]: { a: [1] }, ['é'.repeat(2000)]: 'b' });
  let deep: unknown = 'x';
  for (let depth = 0; depth < 120; depth += 1) deep = depth % 2 === 0 ? [deep] : { a: deep };
  assertReadsSame(deep);
});

test('half a character is replaced, as in protobuf', () => {
  assert.equal(writeYaml('a\ud800b'), '"a\ufffdb"\n');
  assert.equal(writeYaml(['\udc00\n']), '- "\ufffd\\n"\n');
});

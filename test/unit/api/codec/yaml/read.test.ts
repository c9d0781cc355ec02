import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseYaml } from '../../../../../src/api/codec/yaml/read.ts';
import { YamlError } from '../../../../../src/api/index.ts';
import { cpuMsOf } from '../../../../support/cpu-time.ts';

const read = (text: string) => parseYaml(text).value;

describe('a document', () => {
  test('of JSON is that JSON', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (text) => {
        fc.pre(!text.includes('\\'));
        assert.deepEqual(
          read(text),
          JSON.parse(text, (_key, value) => (Object.is(value, -0) ? 0 : value)),
        );
      }),
    );
  });

  test('of nothing, or of comments, is a null', () => {
    for (const text of ['', ' \n\n', '# x\n', '---\n', 'null', '~', '---\n...\n']) {
      assert.equal(read(text), null, JSON.stringify(text));
    }
  });

  test('may say that it is one', () => {
    for (const text of ['a: 1', '---\na: 1', '%YAML 1.1\n---\na: 1\n', 'a: 1\n...\n', '\ufeffa: 1']) {
      assert.deepEqual(read(text), { a: 1 }, JSON.stringify(text));
    }
  });

  test('is alone', () => {
    for (const text of ['a: 1\n---\nb: 2\n', '---\n---\n', 'a: 1\n---\n', '{}\n...\n---\n{}']) {
      assert.throws(
        () => parseYaml(text),
        /^YamlError: there is more than one document/,
        JSON.stringify(text),
      );
    }
  });

  test('has strings in all styles', () => {
    const text =
      "a: >\n  x\n  y\n\n  z\nb: |+\n  x\n\nc: \"\\x41\\u00e9\\U0001F600\"\nd: 'it''s'\ne: a\n  b\n";
    assert.deepEqual(read(text), { a: 'x y\nz\n', b: 'x\n\n', c: 'Aé😀', d: "it's", e: 'a b' });
  });

  test('of names that every object has is plain data', () => {
    const value = read('__proto__: {x: 1}\nconstructor: {prototype: 2}\n<<: {__proto__: {y: 1}}');
    assert.deepEqual(Object.keys(value ?? {}), ['__proto__', 'constructor']);
    assert.equal(Reflect.get({}, 'x'), undefined);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
  });
});

describe('keys that stand twice', () => {
  test('are all told by path, and the last counts', () => {
    const text = [
      'spec:',
      '  taints:',
      '  - {key: a, key: b}',
      '  - key: c',
      '    effect: {x: 1, x: 2, "x": 3}',
      'metadata: &m',
      '  labels: {on: 1, true: 2}',
      'spec: 1',
      'copy: *m',
    ].join('\n');
    const { value, duplicates } = parseYaml(text);
    assert.deepEqual(duplicates, [
      'spec.taints[0].key',
      'spec.taints[1].effect.x',
      'metadata.labels.true',
      'spec',
    ]);
    assert.deepEqual(value, { spec: 1, metadata: { labels: { true: 2 } }, copy: { labels: { true: 2 } } });
  });

  test('are a thousand and one at most, with short paths', () => {
    const many = Array.from({ length: 3000 }, (_, index) => `k${index}: 1\nk${index}: 2`).join('\n');
    assert.equal(parseYaml(many).duplicates.length, 1001);
    const long = `? ${'x'.repeat(5000)}\n: {a: 1, a: 2}`;
    assert.ok((parseYaml(long).duplicates[0]?.length ?? 0) < 1100);
  });
});

describe('merge keys', () => {
  /** What kubectl 1.33 makes of them. */
  const merges: [string, object][] = [
    ['<<: {a: 1, b: 2}\na: 3', { a: 3, b: 2 }],
    ['a: 3\n<<: {a: 1, b: 2}', { a: 1, b: 2 }],
    ['<<: [{a: 1}, {a: 2, b: 2}]', { a: 1, b: 2 }],
    ['<<: {a: 1}\n<<: {a: 2}', { a: 2 }],
    ['"<<": {a: 1}', { '<<': { a: 1 } }],
    ['p: &x {a: 1}\nq: {<<: *x, b: 2}', { p: { a: 1 }, q: { a: 1, b: 2 } }],
    ['<<: []', {}],
  ];
  for (const [text, expected] of merges) {
    test(JSON.stringify(text), () => {
      const { value, duplicates } = parseYaml(text);
      assert.deepEqual(value, expected);
      assert.deepEqual(duplicates, []);
    });
  }

  test('take nothing but maps', () => {
    for (const value of ['1', '', '[1]', '[[{}]]', 'null', '"x"']) {
      assert.throws(
        () => parseYaml(`a: 1\n<<: ${value}`),
        /line 2, column 1: a merge key takes a map/,
        value,
      );
    }
  });
});

describe('aliases', () => {
  test('stand for values of their own', () => {
    const value = read('a: &x {k: [1]}\nb: *x') ?? {};
    assert.deepEqual(Reflect.get(value, 'b'), { k: [1] });
    assert.notEqual(Reflect.get(value, 'a'), Reflect.get(value, 'b'));
    assert.deepEqual(read('&k a: b\nc: *k\n*k : d'), { a: 'd', c: 'a' });
    assert.deepEqual(read('a: &x 1\nb: &x 2\nc: *x'), { a: 1, b: 2, c: 2 });
  });

  test('must have an anchor before them that does not hold them', () => {
    assert.throws(
      () => parseYaml('a:\n  b: *x'),
      /line 2, column 6: no anchor of that name stands before this alias/,
    );
    assert.throws(() => parseYaml('a: &x {b: *x}'), /line 1, column 11: this anchor contains itself/);
    assert.throws(() => parseYaml('a: &x [*x]'), /contains itself/);
    assert.throws(() => parseYaml('*x : 1'), /no anchor of that name/);
  });

  const bombs: Record<string, string> = {
    'a billion laughs': [
      'a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]',
      ...Array.from(
        { length: 20 },
        (_, index) => `a${index + 1}: &a${index + 1} [${Array(9).fill(`*a${index}`).join()}]`,
      ),
    ].join('\n'),
    'a long text many times': `a: &a ${'x'.repeat(100_000)}\nb: [${Array(1000).fill('*a').join()}]`,
    'long keys many times': `a: &a {${'x'.repeat(100_000)}: 1}\nb: [${Array(1000).fill('*a').join()}]`,
    'merges of merges': [
      'a0: &a0 {a: {b: c}, d: {e: f}}',
      ...Array.from(
        { length: 40 },
        (_, index) => `a${index + 1}: &a${index + 1} {x: *a${index}, y: {<<: *a${index}}}`,
      ),
    ].join('\n'),
    'ever deeper': Array.from({ length: 2000 }, (_, index) =>
      index === 0 ? '- &a0 []' : `- &a${index} [*a${index - 1}]`,
    ).join('\n'),
  };
  for (const [what, text] of Object.entries(bombs)) {
    test(`${what}: refused in good time`, () => {
      const tookMs = cpuMsOf(() =>
        assert.throws(() => parseYaml(text), /the aliases stand for more than is accepted|nested deeper/),
      );
      assert.ok(tookMs < 2000, `${tookMs} ms`);
    });
  }
});

describe('what is no YAML', () => {
  test('is told with line and column', () => {
    const wrong: [string, RegExp][] = [
      ['a: b: c', /^YamlError: line 1, column 5: /],
      ['a: 1\nb: [1,\n', /^YamlError: line \d, column \d+: /],
      ['a: "x', /^YamlError: line 1, column \d+: /],
      ['a:\n\t- b', /^YamlError: line 2, column \d+: /],
      ['a: 1\r\nb: *x\r\n', /^YamlError: line 2, column 4: /],
      ['a\0b', /^YamlError: line 1, column 2: /],
      ['%YAML 3.0\n---\na', /^YamlError: line \d, column \d+: /],
    ];
    for (const [text, message] of wrong) assert.throws(() => parseYaml(text), message, JSON.stringify(text));
  });

  test('nests no deeper than JSON may', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    assert.doesNotThrow(() => parseYaml(nested(256)));
    for (const text of [nested(257), '['.repeat(1_000_000), '- '.repeat(1_000_000), '{a: '.repeat(100_000)]) {
      assert.throws(() => parseYaml(text), YamlError, text.slice(0, 20));
    }
  });

  test('never fails in another way', () => {
    const pieces = fc.constantFrom(
      ...[
        'a',
        '1',
        ': ',
        '- ',
        '? ',
        '\n',
        '  ',
        '[',
        ']',
        '{',
        '}',
        ',',
        '&x ',
        '*x',
        '!!str ',
        '!',
        '"',
        "'",
        '|',
        '>',
      ],
      ...[
        '#',
        '%',
        '---',
        '...',
        '<<',
        '\\',
        '\t',
        '~',
        'yes',
        '\u0085',
        '\ufeff',
        '0x1',
        '.5',
        '\\u0061',
        '@',
        '`',
      ],
    );
    const text = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (source) => {
        try {
          JSON.stringify(parseYaml(source).value);
        } catch (error) {
          assert.ok(error instanceof YamlError, String(error));
        }
      }),
      { numRuns: 3000 },
    );
  });

  const large: Record<string, string> = {
    lines: '- \n'.repeat(300_000),
    'commas in brackets': `[${'a,'.repeat(500_000)}]`,
    'pairs in brackets': `[${'a: b,'.repeat(200_000)}]`,
    documents: '---\n'.repeat(250_000),
    keys: Array.from({ length: 100_000 }, (_, index) => `k${index}: 1`).join('\n'),
    'one key': 'a: 1\n'.repeat(200_000),
    anchors: Array.from({ length: 70_000 }, (_, index) => `- &a${index} b`).join('\n'),
    aliases: `- &a x\n${'- *a\n'.repeat(200_000)}`,
    merges: '<<: {}\n'.repeat(130_000),
    'an open string': `"${'a\n '.repeat(300_000)}`,
  };
  for (const [what, text] of Object.entries(large)) {
    test(`a million characters of ${what} are done with in good time`, () => {
      const tookMs = cpuMsOf(() => {
        try {
          parseYaml(text);
        } catch (error) {
          assert.ok(error instanceof YamlError, String(error));
        }
      });
      assert.ok(tookMs < 5000, `${tookMs} ms`);
    });
  }
});

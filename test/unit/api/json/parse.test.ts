import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { JsonError, parseJson } from '../../../../src/api/index.ts';
import { withoutHalves } from '../../../../src/api/json/index.ts';
import { cpuMsOf } from '../../../support/cpu-time.ts';

/** A JSON document that may have a key twice, as a tree. */
type Document = { scalar: unknown } | { items: Document[] } | { members: [string, Document][] };

const keys = fc.oneof(
  fc.constantFrom('a', 'b', '', '__proto__', 'constructor', 'ä', '😀', '"', 'a"b', '\u0000'),
  fc.string({ unit: 'binary', maxLength: 3 }).filter((key) => !key.includes('\\') && key.isWellFormed()),
);
const document: fc.Memo<Document> = fc.memo((depth) => {
  const scalar = fc.record({ scalar: fc.jsonValue({ maxDepth: 0 }) });
  if (depth <= 1) return scalar;
  return fc.oneof(
    scalar,
    fc.record({ items: fc.array(document(depth - 1), { maxLength: 4 }) }),
    fc.record({ members: fc.array(fc.tuple(keys, document(depth - 1)), { maxLength: 5 }) }),
  );
});

/** Writes a document, escaping keys now and then and putting blanks here and there, as `dice` falls. */
function write(node: Document, dice: () => number): string {
  const blank = () => ['', ' ', '\n\t', ''][dice() % 4] ?? '';
  if ('scalar' in node) return blank() + JSON.stringify(node.scalar) + blank();
  if ('items' in node)
    return `${blank()}[${node.items.map((item) => write(item, dice)).join(',')}${blank()}]`;
  const members = node.members.map(
    ([key, value]) => `${blank()}${writeKey(key, dice)}${blank()}:${write(value, dice)}`,
  );
  return `${blank()}{${members.join(',')}${blank()}}`;
}

function writeKey(key: string, dice: () => number): string {
  if (dice() % 2 === 0) return JSON.stringify(key);
  const units = Array.from({ length: key.length }, (_, index) => key.charCodeAt(index));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

/** The plain way to find double keys: walk the tree. */
function doubleKeys(node: Document, path = ''): string[] {
  if ('scalar' in node) return [];
  if ('items' in node) return node.items.flatMap((item, index) => doubleKeys(item, `${path}[${index}]`));
  const seen = new Set<string>();
  return node.members.flatMap(([key, value]) => {
    const here = path === '' ? key : `${path}.${key}`;
    const found = seen.has(key) ? [here] : [];
    seen.add(key);
    return [...found, ...doubleKeys(value, here)];
  });
}

describe('keys that stand twice', () => {
  test('are found with their path', () => {
    const text = '{"a":1,"spec":{"taints":[{"key":"x"},{"key":"x","key":"y"}],"a":2},"a":3}';
    const { value, duplicates } = parseJson(text);
    assert.deepEqual(duplicates, ['spec.taints[1].key', 'a']);
    assert.deepEqual(value, { a: 3, spec: { taints: [{ key: 'x' }, { key: 'y' }], a: 2 } });
  });

  test('are the same however they are written', () => {
    assert.deepEqual(parseJson('{"a":1,"\\u0061":2}').duplicates, ['a']);
    assert.deepEqual(parseJson('{"\\/":1,"/":2}').duplicates, ['/']);
    assert.deepEqual(parseJson('{"\\n":1,"\\"":2}').duplicates, []);
  });

  test('are told once, also when they stand three times', () => {
    assert.deepEqual(parseJson('{"a":1,"a":2,"a":3}').duplicates, ['a']);
  });

  test('in texts and in different objects are none', () => {
    assert.deepEqual(
      parseJson('{"a":"{\\"a\\":1,\\"a\\":2}","b":{"a":1},"c":[{"a":1},{"a":1}]}').duplicates,
      [],
    );
    assert.deepEqual(parseJson('["a","a",",","{","}"]').duplicates, []);
  });

  test('are found as the plain way finds them, and the value is the parser’s', () => {
    const input = fc.tuple(document(4), fc.infiniteStream(fc.nat(100)));
    fc.assert(
      fc.property(input, ([node, stream]) => {
        const text = write(node, () => stream.next().value ?? 0);
        const { value, duplicates } = parseJson(text);
        assert.deepEqual(duplicates, [...new Set(doubleKeys(node))].slice(0, 100));
        assert.deepEqual(value, withoutHalves(JSON.parse(text)));
      }),
      { numRuns: 2000 },
    );
  });

  test('are told up to a limit, and cut when they are long', () => {
    const many = Array.from({ length: 5000 }, (_, index) => `"k${index}":1,"k${index}":1`).join();
    assert.equal(parseJson(`{${many}}`).duplicates.length, 1001);
    const long = 'k'.repeat(500_000);
    const { duplicates } = parseJson(`{"${long}":{${many}}}`);
    assert.ok(duplicates.join().length < 1001 * 400);
    const nested = `${`{"${'k'.repeat(300)}":`.repeat(250)}{${many}}${'}'.repeat(250)}`;
    assert.ok(parseJson(nested).duplicates.join().length < 1001 * 1100);
  });
});

describe('a key with a backslash in it', () => {
  test('is refused, for V8 would take the escaped keys of later bodies for it', () => {
    for (const key of ['\\\\', 'a\\\\', '\\\\u0061', '\\u005c']) {
      assert.throws(() => parseJson(`{"later":1,"${key}":2}`), /takes no keys with a backslash/);
    }
    assert.deepEqual(parseJson('{"later":1,"\\u0061":2}').value, { later: 1, a: 2 });
    assert.deepEqual(parseJson('{"later":1,"k:{\\"type\\":\\"Ready\\"}":2}').value, {
      later: 1,
      'k:{"type":"Ready"}': 2,
    });
  });

  test('is taken behind a quote, where no later key can be the same: managers of items have such keys', () => {
    for (const key of ['k:{"mountPath":"/a\\"b"}', 'v:"\\u003c"']) {
      assert.deepEqual(parseJson(JSON.stringify({ first: 1, [key]: 2 })).value, { first: 1, [key]: 2 });
      for (const later of [
        '{"first":1,"\\u0061":2}',
        '{"first":1,"k:{\\u0061":2}',
        '{"first":1,"v:\\u0061":2}',
      ]) {
        const [, read = ''] = Object.keys(Object(parseJson(later).value));
        assert.match(read, /^(k:\{|v:)?a$/, later);
      }
    }
    assert.throws(() => parseJson(JSON.stringify({ 'a\\"b': 1 })), /takes no keys with a backslash/);
  });

  test('is no matter in a text that is no key', () => {
    assert.deepEqual(parseJson('{"path":"C:\\\\","list":["\\\\"]}').value, { path: 'C:\\', list: ['\\'] });
  });
});

describe('what is no JSON', () => {
  test('is refused with the parser’s reason', () => {
    const texts = [
      '',
      '{',
      '{"a"}',
      '{"a":1,}',
      '[1,]',
      '"open',
      '{"a\\":1}',
      '{"\\x":1,"\\x":2}',
      'nul',
      "{'a':1}",
    ];
    for (const text of [...texts, '{"a":1}}', '1 2', '\ufeff{}', '}}}}', ']', ',', '{"\\']) {
      assert.throws(() => parseJson(text), JsonError, text);
    }
  });

  test('never brings anything but a JsonError', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0061ab1 ') }), (text) => {
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        try {
          assert.deepEqual(parseJson(text).value, JSON.parse(text));
        } catch (error) {
          assert.ok(error instanceof JsonError);
          assert.ok(!valid || error.message.includes('backslash'));
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe('bounds', () => {
  test('nesting ends at 256 levels', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    parseJson(nested(256));
    assert.throws(() => parseJson(nested(257)), /nested deeper than 256 levels/);
  });

  const size = 3 * 1024 * 1024;
  const bodies: Record<string, string> = {
    'brackets alone': '['.repeat(size),
    'braces alone': '{"a":'.repeat(size / 5),
    'backslashes in a text': `["${'\\\\'.repeat(size / 2)}"]`,
    'escaped quotes': `["${'\\"'.repeat(size / 2)}"]`,
    'an open text of backslashes': `["${'\\'.repeat(size)}`,
    'one key again and again': `{${Array(size / 6)
      .fill('"a":1')
      .join()}}`,
    'many different keys': `{${Array.from({ length: size / 16 }, (_, index) => `"key${index}":0`).join()}}`,
    'escaped keys': `{${Array.from({ length: size / 20 }, (_, index) => `"\\u0061${index}":0`).join()}}`,
  };
  for (const [name, body] of Object.entries(bodies)) {
    test(`a large body of ${name} is dealt with in a moment`, () => {
      const tookMs = cpuMsOf(() => {
        try {
          parseJson(body);
        } catch (error) {
          assert.ok(error instanceof JsonError);
        }
      });
      assert.ok(tookMs < 2000, `took ${tookMs} ms`);
    });
  }
});

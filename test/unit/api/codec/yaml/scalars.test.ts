import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseYaml } from '../../../../../src/api/codec/yaml/read.ts';
import { cpuMsOf } from '../../../../support/cpu-time.ts';

const read = (text: string) => parseYaml(`- ${text}`).value;

/** What kubectl 1.33 makes of these in a manifest: sigs.k8s.io/yaml, which the reference's server uses too. */
const plain: Record<string, unknown> = {
  y: true,
  Y: true,
  yes: true,
  Yes: true,
  YES: true,
  yEs: 'yEs',
  on: true,
  On: true,
  ON: true,
  true: true,
  True: true,
  TRUE: true,
  tRUE: 'tRUE',
  n: false,
  N: false,
  no: false,
  NO: false,
  off: false,
  Off: false,
  OFF: false,
  false: false,
  '': null,
  '~': null,
  null: null,
  Null: null,
  NULL: null,
  nULL: 'nULL',
  '0': 0,
  '00': 0,
  '-0': 0,
  '+1': 1,
  '-1': -1,
  '012': 10,
  '-012': -10,
  '0777': 511,
  '0o12': 10,
  '0O12': 10,
  '-0o12': -10,
  '0o8': '0o8',
  '08': 8,
  '09': 9,
  '0_7': 7,
  '0b101': 5,
  '0B101': 5,
  '-0b101': -5,
  '+0b11': 3,
  '0b2': '0b2',
  '0x1F': 31,
  '0X1f': 31,
  '-0x1F': -31,
  '0x_1F': 31,
  '0_x1': 1,
  '0x': '0x',
  '1_000': 1000,
  '1__0': 10,
  '1_': 1,
  _1: '_1',
  '1.0': 1,
  '1.': 1,
  '.5': 0.5,
  '+.5': 0.5,
  '-.5': -0.5,
  '-0.0': 0,
  '.5_0': 0.5,
  '.5__0': '.5__0',
  '._5': '._5',
  '0.1_': 0.1,
  '1_0.5_0': 10.5,
  '+.8_6': 0.86,
  '.2_3_': '.2_3_',
  '-_1': -1,
  '1e3': 1000,
  '1E3': 1000,
  '1e-3': 0.001,
  '12e03': 12_000,
  '1e1_0': 10_000_000_000,
  '1e': '1e',
  '.': '.',
  '-.e3': '-.e3',
  '1e400': '1e400',
  '5e-324': 5e-324,
  '123456789012345': 123456789012345,
  '9223372036854775808': 2 ** 63,
  '18446744073709551615': 2 ** 64,
  '99999999999999999999': 1e20,
  '0xFFFFFFFFFFFFFFFFF': '0xFFFFFFFFFFFFFFFFF',
  '1:20': '1:20',
  '190:20:30': '190:20:30',
  '2001-01-01': '2001-01-01',
  '2001-01-01T00:00:00Z': '2001-01-01T00:00:00Z',
  '0x1p-2': '0x1p-2',
  '1,000': '1,000',
  '1-1': '1-1',
  '+': '+',
  '=': '=',
  '.inF': '.inF',
};

describe('a plain scalar', () => {
  for (const [text, expected] of Object.entries(plain)) {
    test(`${text === '' ? 'of nothing' : text} is ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(read(text), [expected]);
    });
  }

  test('is text in quotes and in blocks', () => {
    for (const text of ['"yes"', "'yes'", '|-\n  yes', '>-\n  yes']) assert.deepEqual(read(text), ['yes']);
  });

  test('that is no number of JSON is refused', () => {
    for (const text of ['.nan', '.NaN', '.inf', '-.INF', '+.Inf']) {
      assert.throws(() => read(text), /^YamlError: line 1, column 3: a number that JSON does not have/);
    }
  });

  test('of very many digits is read in good time', () => {
    const digits = '9'.repeat(1_000_000);
    assert.ok(cpuMsOf(() => assert.deepEqual(read(digits), [digits])) < 1000);
  });
});

describe('a key', () => {
  const keys: Record<string, string> = {
    yes: 'true',
    n: 'false',
    TRUE: 'true',
    '"yes"': 'yes',
    '012': '10',
    '0x1F': '31',
    '1_0': '10',
    '-1': '-1',
    '-0': '0',
    '1000000': '1000000',
    '12345678901234567890': '12345678901234567890',
    '1.5': '1.5',
    '1.10': '1.1',
    '.5': '0.5',
    '0.0': '0',
    '1e3': '1000',
    '1e5': '100000',
    '1e6': '1e+06',
    '1e10': '1e+10',
    '1e-7': '1e-07',
    '1e22': '1e+22',
    '100000.5': '100000.5',
    '123456.7': '123456.7',
    '123456789.5': '1.2345679e+08',
    '16777217.0': '1.6777216e+07',
    '2001-01-01': '2001-01-01',
    '=': '=',
    '<<x': '<<x',
    '"<<"': '<<',
    __proto__: '__proto__',
    constructor: 'constructor',
  };
  for (const [text, expected] of Object.entries(keys)) {
    test(`${text} is ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(Object.entries(parseYaml(`${text}: v`).value ?? {}), [[expected, 'v']]);
    });
  }

  test('is no null, no list and no map', () => {
    for (const key of ['~', 'null', '? ', '? [a]\n', '{a: b}', '[a]', '!!null ""']) {
      assert.throws(() => parseYaml(`${key}: v`), /^YamlError: .*a key must be text/, key);
    }
  });

  test('has no backslash, as in JSON', () => {
    for (const key of ['"\\\\u0061"', 'a\\b', "'\\'"]) {
      assert.throws(() => parseYaml(`${key}: v`), /no keys with a backslash/, key);
    }
  });
});

describe('a tag', () => {
  const tagged: Record<string, unknown> = {
    '!!str 123': '123',
    '!!str': '',
    '!!str yes': 'yes',
    '! 12': '12',
    '!<tag:yaml.org,2002:str> 12': '12',
    '!!int "3"': 3,
    '!!float 3': 3,
    '!!bool yes': true,
    '!!bool "true"': true,
    '!!null ""': null,
    '!!map {b: c}': { b: 'c' },
    '!!seq [b]': ['b'],
  };
  for (const [text, expected] of Object.entries(tagged)) {
    test(`${text} is ${JSON.stringify(expected)}`, () => assert.deepEqual(read(text), [expected]));
  }

  test('that does not fit is refused', () => {
    for (const text of [
      '!!int abc',
      '!!int 1.0',
      '!!float abc',
      '!!bool 1',
      '!!null x',
      '!!seq {a: b}',
      '!!map [a]',
      '!!map x',
    ]) {
      assert.throws(() => read(text), /^YamlError: line 1, column 3: the value does not fit its tag/, text);
    }
  });

  test('of another kind is refused', () => {
    for (const text of [
      '!!binary aGVsbG8=',
      '!!timestamp 2001-01-01',
      '!!set {x, y}',
      '!!omap [x: 1]',
      '!foo bar',
      '!foo {a: b}',
      '!<tag:example.com,2000:x> y',
      '!!js/function "x"',
    ]) {
      assert.throws(() => read(text), /^YamlError: line 1, column 3: this tag is not accepted/, text);
    }
    assert.throws(() => parseYaml('%TAG ! tag:yaml.org,2002:\n---\n!str a'), /tag directives/);
  });
});

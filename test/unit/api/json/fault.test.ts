import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { describeFault } from '../../../../src/api/json/fault.ts';
import { JsonError, parseJson } from '../../../../src/api/json/index.ts';
import { cpuMsOf } from '../../../support/cpu-time.ts';

describe('what is wrong with a text that is no JSON', () => {
  const cases: [string, string][] = [
    ['', 'line 1, column 1: expected a value, but the text ends'],
    ['{"a":1', 'line 1, column 7: expected a comma or }, but the text ends'],
    ['{"a":}', 'line 1, column 6: expected a value'],
    ['{"a" 1}', 'line 1, column 6: expected a colon'],
    ['{a: 1}', 'line 1, column 2: expected a key in double quotes or }'],
    ['{"a":1,}', 'line 1, column 8: expected a key in double quotes'],
    ['{"a":1 "b":2}', 'line 1, column 8: expected a comma or }'],
    ['[1,]', 'line 1, column 4: expected a value'],
    ['[,]', 'line 1, column 2: expected a value or ]'],
    ['[1 2]', 'line 1, column 4: expected a comma or ]'],
    ['[1}', 'line 1, column 3: expected a comma or ]'],
    ['{"a":[]]', 'line 1, column 8: expected a comma or }'],
    ['{} {}', 'line 1, column 4: expected nothing more'],
    ['{\n  "a": [1,\n  tru]}', 'line 3, column 3: expected a value'],
    ['{"a": hunter2}', 'line 1, column 7: expected a value'],
    ['{"a": "hun\\ter\\2"}', 'line 1, column 15: a bad escape in a string'],
    ['["\\u12g4"]', 'line 1, column 3: a bad escape in a string'],
    ['["\\\\\\u12"]', 'line 1, column 5: a bad escape in a string'],
    ['{"a":"hunter2}', 'line 1, column 6: a string does not end'],
    ['["a\nb"]', 'line 1, column 4: a control character in a string'],
    ['[01]', 'line 1, column 3: expected a comma or ]'],
    ['[1.]', 'line 1, column 3: expected a comma or ]'],
    ['[-]', 'line 1, column 2: expected a value or ]'],
    ["{'a':1}", 'line 1, column 2: expected a key in double quotes or }'],
    ['\ufeff{}', 'line 1, column 1: expected a value'],
  ];
  for (const [text, expected] of cases) {
    test(`${JSON.stringify(text)}: ${expected}`, () => {
      assert.throws(() => parseJson(text), new JsonError(expected));
    });
  }
});

const pieces = fc.oneof(
  fc.constantFrom(...'{}[]:,"\\ \n01-.eE+'),
  fc.constantFrom('true', 'null', '"a"', '"a":', '[]', '{}', '\\u00', '12', '1e5', '\t', '\u0001'),
);

test('is found where the parser of the language finds it', () => {
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 12 }).map((some) => some.join('')),
      (text) => {
        const offset = offsetOfParser(text);
        if (offset === undefined) return;
        const [, line, column] = /^line (\d+), column (\d+): /.exec(describeFault(text)) ?? [];
        const lines = text.split('\n');
        const before = lines.slice(0, Number(line) - 1).reduce((sum, each) => sum + each.length + 1, 0);
        const own = before + Number(column) - 1;
        // within a word, a number, a string or an escape the parser goes on to the bad character
        assert.ok(own <= offset, `${JSON.stringify(text)}: ${own}, not ${offset}`);
        assert.match(text.slice(own, offset), /^(?:[-+\w.]*|".*|\\u?\w*)$/s, JSON.stringify(text));
      },
    ),
    { numRuns: 5000 },
  );
});

/** Undefined when the text is JSON, or the parser does not tell the place. */
function offsetOfParser(text: string): number | undefined {
  try {
    JSON.parse(text);
  } catch (error) {
    const [, offset] = / in JSON at position (\d+)/.exec(String(error)) ?? [];
    if (offset !== undefined) return Number(offset);
    return /Unexpected end/.test(String(error)) ? text.length : undefined;
  }
  return undefined;
}

test('takes time in proportion to the text', () => {
  const size = 3 * 1024 * 1024;
  for (const text of [
    '['.repeat(200),
    `[${'1,'.repeat(size / 2)}`,
    `["${'\\\\'.repeat(size / 2)}`,
    ' '.repeat(size),
  ]) {
    assert.ok(cpuMsOf(() => describeFault(text)) < 2000);
  }
});

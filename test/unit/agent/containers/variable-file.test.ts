import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readVariable } from '../../../../src/agent/containers/variable-file.ts';

describe('a file of variables', () => {
  const rows: [what: string, text: string, name: string, value: string][] = [
    ['has values in single quotes', "A='1'\nB='2'\n", 'B', '2'],
    ['may end without a new line', "A='1'", 'A', '1'],
    ['may have blanks before a name', "   A='1'\n\t B='2'\n", 'B', '2'],
    ['may have blank lines and comments', "# one\n\n  # two\nA='1'\n", 'A', '1'],
    ['may have a comment after a value', "A='1' # one\n", 'A', '1'],
    ['keeps blanks in a value', "A='  1  '", 'A', '  1  '],
    ['keeps what means something to a shell', 'A=\'$B $(C) `d` \\n "e" #f\'', 'A', '$B $(C) `d` \\n "e" #f'],
    ['keeps further equals signs', "A='b=c=d'", 'A', 'b=c=d'],
    ['may have empty values', "A=''\nB='2'", 'A', ''],
    ['has nothing for another name', "A='1'", 'AA', ''],
    ['has nothing when it is empty', '', 'A', ''],
    ['has values of several lines', "A='one\n\n  two\n'\nB='3'", 'A', 'one\n\n  two\n'],
    ['goes on after a value of several lines', "A='one\nB='\nB='3'", 'B', '3'],
    ['may end its lines as Windows does', "A='1'\r\nB='2'\r\n", 'B', '2'],
    ['counts the first of two', "A='1'\nA='2'", 'A', '1'],
    ['is not read after its name', "A='1'\nnonsense", 'A', '1'],
    ['has nothing where a blank follows the sign', "A= '1'\n", 'A', ''],
    ['goes on after such a line', "A= '1'\nB='2'\n", 'B', '2'],
    ['may have any text in names', "a.b-c/d='1'", 'a.b-c/d', '1'],
    ['may have what is not ASCII', "A='grün 🌍'", 'A', 'grün 🌍'],
  ];
  for (const [what, text, name, value] of rows) {
    test(what, () => assert.equal(readVariable(text, name), value));
  }

  const faults: [what: string, text: string, message: string][] = [
    ['no equals sign', "B='1'\nA\n", "invalid environment variable format at line 2: missing '='"],
    ['no name', "='1'", 'invalid environment variable format at line 1: empty variable name'],
    [
      'a blank before the sign',
      "A ='1'",
      "invalid environment variable format at line 1: whitespace before '=' is not allowed",
    ],
    [
      'no quotes',
      'A=1',
      'invalid environment variable format at line 1: value must be enclosed in single quotes',
    ],
    [
      'nothing',
      'A=',
      'invalid environment variable format at line 1: value must be enclosed in single quotes',
    ],
    [
      'double quotes',
      'A="1"',
      'invalid environment variable format at line 1: value must be enclosed in single quotes',
    ],
    [
      'two values',
      "A='1''2'",
      'invalid environment variable format at line 1: unexpected content after closing quote',
    ],
    [
      'text after a value of several lines',
      "\nA='1\n2'x",
      'invalid environment variable format at line 3: unexpected content after closing quote',
    ],
    [
      'an open quote',
      "B='1'\nA='2\n3\n",
      'invalid environment variable format starting at line 2: unclosed single quote',
    ],
  ];
  for (const [what, text, message] of faults) {
    test(`${what} is a fault`, () => assert.throws(() => readVariable(text, 'A'), { message }));
  }

  test('is read in time by its length', () => {
    assert.equal(readVariable(`${"B='x' # '='\n".repeat(80_000)}A='1'`, 'A'), '1');
    assert.throws(() => readVariable(`A='${'\n'.repeat(1_000_000)}`, 'A'), /unclosed/);
  });
});

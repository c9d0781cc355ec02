import { findStringEnd } from './end-of-string.ts';
import { formatLineAndColumn } from './line-and-column.ts';

/*
 * The messages of JSON.parse quote some of the text, which may be a secret, and do not always have the position. So a text
 * that it has refused is scanned once more, for the position and for what was expected there.
 */

const expectations = {
  value: 'expected a value',
  firstItem: 'expected a value or ]',
  key: 'expected a key in double quotes',
  firstKey: 'expected a key in double quotes or }',
  colon: 'expected a colon',
  commaInObject: 'expected a comma or }',
  commaInList: 'expected a comma or ]',
  end: 'expected nothing more',
};
type Expected = keyof typeof expectations;

const signs = ['{', '}', '[', ']', ':', ','] as const;
type Sign = (typeof signs)[number] | 'string' | 'scalar';

interface Fault {
  at: number;
  reason: string;
}
interface Token {
  sign: Sign;
  end: number;
  /** What is wrong within a string. */
  fault?: Fault;
}

/** Describes where a text stops being JSON, and why: `line 1, column 9: expected a colon`. */
export function describeFault(text: string): string {
  const { at, reason } = findFault(text);
  return `${formatLineAndColumn(text, at)}: ${reason}`;
}

function findFault(text: string): Fault {
  const open: Sign[] = [];
  let expected: Expected = 'value';
  let at = skipBlanks(text, 0);
  for (;;) {
    const token = readToken(text, at);
    const next: Expected | undefined =
      token === undefined ? undefined : findNextExpected(expected, token.sign, open);
    if (token === undefined || next === undefined) {
      const reason = expectations[expected];
      return { at, reason: at < text.length ? reason : `${reason}, but the text ends` };
    }
    if (token.fault !== undefined) return token.fault;
    expected = next;
    at = skipBlanks(text, token.end);
  }
}

const closings: Partial<Record<Expected, Sign>> = {
  firstKey: '}',
  commaInObject: '}',
  firstItem: ']',
  commaInList: ']',
};

/** What is expected next; undefined when the sign is not what was expected. `open` has the open objects and lists. */
function findNextExpected(expected: Expected, sign: Sign, open: Sign[]): Expected | undefined {
  if (sign === closings[expected]) {
    open.pop();
    return expectAfterValue(open);
  }
  switch (expected) {
    case 'end':
      return undefined;
    case 'colon':
      return sign === ':' ? 'value' : undefined;
    case 'key':
    case 'firstKey':
      return sign === 'string' ? 'colon' : undefined;
    case 'commaInObject':
      return sign === ',' ? 'key' : undefined;
    case 'commaInList':
      return sign === ',' ? 'value' : undefined;
    default:
      return expectAfterStart(sign, open);
  }
}

function expectAfterStart(sign: Sign, open: Sign[]): Expected | undefined {
  if (sign === 'string' || sign === 'scalar') return expectAfterValue(open);
  if (sign !== '{' && sign !== '[') return undefined;
  open.push(sign);
  return sign === '{' ? 'firstKey' : 'firstItem';
}

function expectAfterValue(open: readonly Sign[]): Expected {
  const around = open.at(-1);
  if (around === undefined) return 'end';
  return around === '{' ? 'commaInObject' : 'commaInList';
}

const blanks = [0x20, 0x0a, 0x0d, 0x09];

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (blanks.includes(text.charCodeAt(at))) at++;
  return at;
}

const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The token at `at`; undefined where none begins. */
function readToken(text: string, at: number): Token | undefined {
  const character = text[at];
  if (character === '"') return readString(text, at);
  const sign = signs.find((each) => each === character);
  if (sign !== undefined) return { sign, end: at + 1 };
  scalar.lastIndex = at;
  return scalar.test(text) ? { sign: 'scalar', end: scalar.lastIndex } : undefined;
}

const badInString = /[^ -\uffff]|\\(?:[^"\\/bfnrtu]|u(?![\da-fA-F]{4}))/;

function readString(text: string, at: number): Token {
  const end = findStringEnd(text, at);
  const inner = text.slice(at + 1, end < 0 ? undefined : end).replaceAll('\\\\', '//');
  const token: Token = { sign: 'string', end: end + 1 };
  const bad = inner.search(badInString);
  if (bad >= 0) {
    const reason = inner[bad] === '\\' ? 'a bad escape in a string' : 'a control character in a string';
    return { ...token, fault: { at: at + 1 + bad, reason } };
  }
  return end < 0 ? { ...token, fault: { at, reason: 'a string does not end' } } : token;
}

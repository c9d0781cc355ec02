import { endOfString } from './end-of-string.ts';
import { lineAndColumn } from './line-and-column.ts';

/*
 * The parser of the language tells what is wrong with a text by showing some of it, which may be a secret, and not
 * always where. So what it has refused is gone through once more, for the place and for what should be there.
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
  /** Of a string. */
  fault?: Fault;
}

/** Where a text stops being JSON, and what is wrong there: `line 1, column 9: expected a colon`. */
export function describeFault(text: string): string {
  const { at, reason } = findFault(text);
  return `${lineAndColumn(text, at)}: ${reason}`;
}

function findFault(text: string): Fault {
  const open: Sign[] = [];
  let expected: Expected = 'value';
  let at = afterBlanks(text, 0);
  for (;;) {
    const token = tokenAt(text, at);
    const next: Expected | undefined =
      token === undefined ? undefined : nextAfter(expected, token.sign, open);
    if (token === undefined || next === undefined) {
      const reason = expectations[expected];
      return { at, reason: at < text.length ? reason : `${reason}, but the text ends` };
    }
    if (token.fault !== undefined) return token.fault;
    expected = next;
    at = afterBlanks(text, token.end);
  }
}

const closings: Partial<Record<Expected, Sign>> = {
  firstKey: '}',
  commaInObject: '}',
  firstItem: ']',
  commaInList: ']',
};

/** What may follow; undefined when the sign is not what was expected. `open` is what has begun and not ended. */
function nextAfter(expected: Expected, sign: Sign, open: Sign[]): Expected | undefined {
  if (sign === closings[expected]) {
    open.pop();
    return afterValue(open);
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
      return afterStart(sign, open);
  }
}

function afterStart(sign: Sign, open: Sign[]): Expected | undefined {
  if (sign === 'string' || sign === 'scalar') return afterValue(open);
  if (sign !== '{' && sign !== '[') return undefined;
  open.push(sign);
  return sign === '{' ? 'firstKey' : 'firstItem';
}

function afterValue(open: readonly Sign[]): Expected {
  const around = open.at(-1);
  if (around === undefined) return 'end';
  return around === '{' ? 'commaInObject' : 'commaInList';
}

const blanks = [0x20, 0x0a, 0x0d, 0x09];

function afterBlanks(text: string, start: number): number {
  let at = start;
  while (blanks.includes(text.charCodeAt(at))) at++;
  return at;
}

const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Undefined where none begins. */
function tokenAt(text: string, at: number): Token | undefined {
  const character = text[at];
  if (character === '"') return stringAt(text, at);
  const sign = signs.find((each) => each === character);
  if (sign !== undefined) return { sign, end: at + 1 };
  scalar.lastIndex = at;
  return scalar.test(text) ? { sign: 'scalar', end: scalar.lastIndex } : undefined;
}

const badInString = /[^ -\uffff]|\\(?:[^"\\/bfnrtu]|u(?![\da-fA-F]{4}))/;

function stringAt(text: string, at: number): Token {
  const end = endOfString(text, at);
  const inner = text.slice(at + 1, end < 0 ? undefined : end).replaceAll('\\\\', '//');
  const token: Token = { sign: 'string', end: end + 1 };
  const bad = inner.search(badInString);
  if (bad >= 0) {
    const reason = inner[bad] === '\\' ? 'a bad escape in a string' : 'a control character in a string';
    return { ...token, fault: { at: at + 1 + bad, reason } };
  }
  return end < 0 ? { ...token, fault: { at, reason: 'a string does not end' } } : token;
}

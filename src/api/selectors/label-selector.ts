import type { ApiObject } from '../kinds/index.ts';
import { checkLabelValue, checkQualifiedName } from '../names/index.ts';
import { checkLength, checkTerms, formatPiece, SelectorError } from './error.ts';
import type { Token, TokenKind } from './label-tokens.ts';
import { tokenize } from './label-tokens.ts';
import type { LabelKey, Labels } from './stored-labels.ts';
import { labelKey } from './stored-labels.ts';

/*
 *   selector    = [ requirement { "," requirement } ]
 *   requirement = KEY | "!" KEY
 *               | KEY ( "=" | "==" | "!=" ) [ VALUE ]
 *               | KEY ( "<" | ">" ) INTEGER
 *               | KEY ( "in" | "notin" ) "(" [ VALUE ] { "," [ VALUE ] } ")"
 *
 * Blanks are allowed between all of them. An absent VALUE is the empty text. `in` and `notin` are operators only where an
 * operator is expected; elsewhere they are a key or a value like any other.
 */

export type LabelOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

export interface LabelRequirement {
  key: string;
  operator: LabelOperator;
  /** Without repetitions; empty for Exists and DoesNotExist, exactly one for Gt and Lt. */
  values: readonly string[];
}

/** Selects objects by their labels: all requirements must hold. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  /** The keys of the labels that decide. */
  readonly keys: readonly LabelKey[];
  /** NotIn and DoesNotExist also hold for an object without the label. */
  matches(object: ApiObject): boolean;
  /** The same for an object with these labels; others than those of `keys` are not looked at. */
  matchesLabels(labels: Labels): boolean;
}

/** Parses the query parameter `labelSelector`; the empty text selects everything. Throws SelectorError. */
export function parseLabelSelector(text: string): LabelSelector {
  checkLength('label', text);
  const requirements = new LabelParser(text).selector();
  const tests = requirements.map(createTest);
  const matchesLabels = (labels: Labels) => tests.every((test) => test(labels));
  return {
    requirements,
    keys: [...new Set(requirements.map(({ key }) => key))].map(labelKey),
    matches: (object) => matchesLabels(object.metadata?.labels ?? {}),
    matchesLabels,
  };
}

const exactOperators: Partial<Record<TokenKind, LabelOperator>> = {
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  '<': 'Lt',
  '>': 'Gt',
};

class LabelParser {
  readonly #tokens: Iterator<Token, void>;
  #next: Token;

  constructor(text: string) {
    this.#tokens = tokenize(text);
    this.#next = { kind: 'end', text: '', at: 0 };
    this.#take();
  }

  selector(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#next.kind === 'end') return requirements;
    for (;;) {
      checkTerms('label', requirements.length + 1, this.#next.at);
      requirements.push(this.#requirement());
      const token = this.#take();
      if (token.kind === 'end') return requirements;
      if (token.kind !== ',') throw expected("',' or the end", token);
    }
  }

  #requirement(): LabelRequirement {
    if (this.#next.kind === '!') {
      this.#take();
      return { key: this.#key(), operator: 'DoesNotExist', values: [] };
    }
    const key = this.#key();
    const { kind } = this.#next;
    if (kind === 'end' || kind === ',') return { key, operator: 'Exists', values: [] };
    const token = this.#take();
    const exact = exactOperators[token.kind];
    if (exact === 'Gt' || exact === 'Lt') return { key, operator: exact, values: [this.#integer()] };
    if (exact !== undefined) return { key, operator: exact, values: [this.#value()] };
    if (token.text === 'in') return { key, operator: 'In', values: this.#values() };
    if (token.text === 'notin') return { key, operator: 'NotIn', values: this.#values() };
    throw expected('one of = == != < > in notin', token);
  }

  #key(): string {
    const token = this.#take();
    if (token.kind !== 'word') throw expected('a label key', token);
    const wrong = checkQualifiedName(token.text);
    if (wrong === undefined) return token.text;
    throw new SelectorError('label', token.at, `${formatPiece(token.text)} is no label key: ${wrong}`);
  }

  #values(): string[] {
    const open = this.#take();
    if (open.kind !== '(') throw expected("'('", open);
    const values = new Set<string>();
    for (;;) {
      values.add(this.#value());
      const token = this.#take();
      if (token.kind === ')') return [...values];
      if (token.kind !== ',') throw expected("',' or ')'", token);
    }
  }

  /** A value, or the empty text where there is none. */
  #value(): string {
    if (this.#next.kind !== 'word') return '';
    const { text, at } = this.#take();
    const wrong = checkLabelValue(text);
    if (wrong === undefined) return text;
    throw new SelectorError('label', at, `${formatPiece(text)} is no label value: ${wrong}`);
  }

  #integer(): string {
    const token = this.#take();
    if (token.kind !== 'word' || !isInteger(token.text)) throw expected('an integer', token);
    return token.text;
  }

  /** Takes the next token; after the end there is only the end. */
  #take(): Token {
    const token = this.#next;
    const { value } = this.#tokens.next();
    if (value) this.#next = value;
    return token;
  }
}

function expected(what: string, token: Token): SelectorError {
  const found = token.kind === 'end' ? 'the end' : formatPiece(token.text);
  return new SelectorError('label', token.at, `expected ${what}, found ${found}`);
}

function createTest({ key, operator, values }: LabelRequirement): (labels: Labels) => boolean {
  const wanted = new Set(values);
  const valueIn = (labels: Labels) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  const isWanted = (labels: Labels) => {
    const value = valueIn(labels);
    return value !== undefined && wanted.has(value);
  };
  const differsBy = (labels: Labels, sign: 1 | -1) => {
    const value = valueIn(labels);
    return values.every((bound) => value !== undefined && isInteger(value) && compare(value, bound) === sign);
  };
  switch (operator) {
    case 'In':
      return isWanted;
    case 'NotIn':
      return (labels) => !isWanted(labels);
    case 'Exists':
      return (labels) => valueIn(labels) !== undefined;
    case 'DoesNotExist':
      return (labels) => valueIn(labels) === undefined;
    case 'Gt':
      return (labels) => differsBy(labels, 1);
    case 'Lt':
      return (labels) => differsBy(labels, -1);
  }
}

/** Whether the text is a non-negative signed 64-bit integer; the value of a label cannot begin with a sign. */
function isInteger(text: string): boolean {
  return /^\d{1,63}$/.test(text) && BigInt(text) < 2n ** 63n;
}

function compare(left: string, right: string): number {
  const difference = BigInt(left) - BigInt(right);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

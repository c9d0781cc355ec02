import type { ApiObject, Kind, SelectableField } from '../kinds/index.ts';
import { checkLength, checkTerms, formatPiece, SelectorError } from './error.ts';

export interface FieldRequirement {
  /** `metadata.name`, `metadata.namespace`, or a path that the kind makes selectable. */
  field: string;
  operator: '=' | '!=';
  value: string;
}

/** Selects objects of one kind by some of their fields: all requirements must hold. */
export interface FieldSelector<T extends ApiObject> {
  readonly requirements: readonly FieldRequirement[];
  /** An absent field counts as the empty text. */
  matches(object: T): boolean;
  /** The only value of `field` that can match, where the selector has one: a list by name is a lookup. */
  exact(field: string): string | undefined;
}

const alwaysSelectable: readonly SelectableField<ApiObject>[] = [
  { path: 'metadata.name', value: (object) => object.metadata?.name ?? '' },
  { path: 'metadata.namespace', value: (object) => object.metadata?.namespace ?? '' },
];

/**
 * Parses the query parameter `fieldSelector`: `field=value`, `field==value`, `field!=value`, joined by commas; in a value
 * `\,`, `\=` and `\\` are escapes. The empty text selects everything. Throws SelectorError, which for an unknown field
 * names the selectable ones of the kind.
 */
export function parseFieldSelector<T extends ApiObject>(
  kind: Pick<Kind<T>, 'kind' | 'selectable'>,
  text: string,
): FieldSelector<T> {
  checkLength('field', text);
  const fields = new Map<string, SelectableField<T>>();
  for (const field of [...alwaysSelectable, ...kind.selectable]) fields.set(field.path, field);
  const tests = splitTerms(text).map((term) => {
    const requirement = parseRequirement(term);
    const field = fields.get(requirement.field);
    if (field === undefined) throw unknownField(kind.kind, requirement.field, [...fields.keys()], term.at);
    return { ...requirement, of: field };
  });
  return {
    requirements: tests.map(({ field, operator, value }) => ({ field, operator, value })),
    matches: (object) =>
      tests.every(({ of, operator, value }) => (of.value(object) === value) === (operator === '=')),
    exact: (path) => tests.find(({ field, operator }) => field === path && operator === '=')?.value,
  };
}

/** Parses a field selector of any kind, without checking whether its fields exist. Throws SelectorError. */
export function parseFieldRequirements(text: string): FieldRequirement[] {
  checkLength('field', text);
  return splitTerms(text).map(parseRequirement);
}

/** A piece of the selector and its position. */
interface Piece {
  text: string;
  at: number;
}

/** Splits at commas that are not escaped; empty terms are ignored. */
function splitTerms(text: string): Piece[] {
  const terms: Piece[] = [];
  let at = 0;
  for (let here = 0; here <= text.length; here++) {
    if (text[here] === '\\') here++;
    else if (here === text.length || text[here] === ',') {
      if (here > at) terms.push({ text: text.slice(at, here), at });
      checkTerms('field', terms.length, at);
      at = here + 1;
    }
  }
  if (at < text.length) terms.push({ text: text.slice(at), at }); // ends in a lone backslash
  return terms;
}

function parseRequirement({ text, at }: Piece): FieldRequirement {
  const parts = /^([^=!\\]*)(==|!=|=)(.*)$/s.exec(text);
  const [, field = '', operator = '', value = ''] = parts ?? [];
  if (parts === null) {
    throw new SelectorError(
      'field',
      at,
      `${formatPiece(text)} has no operator; write field=value or field!=value`,
    );
  }
  const valueAt = at + field.length + operator.length;
  return {
    field,
    operator: operator === '!=' ? '!=' : '=',
    value: unescapeValue({ text: value, at: valueAt }),
  };
}

function unescapeValue({ text, at }: Piece): string {
  let value = '';
  for (let here = 0; here < text.length; here++) {
    const character = text[here] ?? '';
    const next = text[here + 1] ?? '';
    if (character === '\\') {
      if (next === '' || !'\\,='.includes(next)) {
        throw new SelectorError(
          'field',
          at + here,
          `${formatPiece(`\\${next}`)} is no escape; there are \\\\ \\, \\=`,
        );
      }
      here++;
      value += next;
    } else if (character === '=') {
      throw new SelectorError('field', at + here, `a "=" in a value is written "\\="`);
    } else value += character;
  }
  return value;
}

function unknownField(kind: string, field: string, supported: readonly string[], at: number): SelectorError {
  return new SelectorError(
    'field',
    at,
    `field label not supported: ${formatPiece(field)}; a ${kind} can be selected by ${supported.join(', ')}`,
  );
}

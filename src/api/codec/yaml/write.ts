import { isRecord } from '../../schema/index.ts';
import { formatText } from './text.ts';

/**
 * Writes a JSON value as YAML in block style, as the reference does: keys in alphabetical order, lists not indented. Every
 * reader of YAML 1.1 or 1.2 reads the same value from it.
 */
export function writeYaml(value: unknown): string {
  const out: string[] = [];
  if (isFilled(value)) writeBlock(value, '', '', out);
  else out.push(`${formatLeaf(value, '  ')}\n`);
  return out.join('');
}

type Filled = unknown[] | Record<string, unknown>;

function isFilled(value: unknown): value is Filled {
  if (Array.isArray(value)) return value.length > 0;
  return isRecord(value) && Object.values(value).some((inner) => inner !== undefined);
}

/** Writes a collection; its first line follows `first`, the others are indented. */
function writeBlock(value: Filled, first: string, indent: string, out: string[]): void {
  let before = first;
  const begin = (text: string) => {
    out.push(before, text);
    before = indent;
  };
  if (Array.isArray(value)) {
    for (const item of value) {
      begin('-');
      if (isFilled(item)) writeBlock(item, ' ', `${indent}  `, out);
      else out.push(` ${formatLeaf(item, `${indent}  `)}\n`);
    }
    return;
  }
  for (const key of Object.keys(value).sort()) {
    if (value[key] === undefined) continue;
    begin(formatKey(key, indent));
    writeEntry(value[key], indent, out);
  }
}

function writeEntry(value: unknown, indent: string, out: string[]): void {
  if (isFilled(value)) {
    out.push('\n');
    const inner = Array.isArray(value) ? indent : `${indent}  `;
    writeBlock(value, inner, inner, out);
  } else {
    out.push(` ${formatLeaf(value, `${indent}  `)}\n`);
  }
}

/** Longer keys need an explicit `?`: readers need not search more than 1024 characters for the colon. */
const maxPlainKeyLength = 1000;

function formatKey(key: string, indent: string): string {
  const text = formatText(key);
  return text.length <= maxPlainKeyLength ? `${text}:` : `? ${text}\n${indent}:`;
}

function formatLeaf(value: unknown, indent: string): string {
  if (typeof value === 'string') return formatText(value, indent);
  if (typeof value === 'number') return formatNumber(value);
  if (Array.isArray(value)) return '[]';
  return isRecord(value) ? '{}' : JSON.stringify(value ?? null);
}

/** YAML 1.1 accepts an exponent only after a decimal point. */
function formatNumber(value: number): string {
  const text = JSON.stringify(value);
  return text.includes('.') ? text : text.replace('e', '.0e');
}

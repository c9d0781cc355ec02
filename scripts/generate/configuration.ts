import type { Field, Fields, Json } from '../../src/agent/config/field.ts';
import { flagName } from '../../src/agent/config/flags.ts';
import { defaultOf } from '../../src/agent/config/layers.ts';

/*
 * What is written of the fields of the agent's configuration: the sample file, in which every field stands commented out
 * with its default, and the table in the documentation.
 */

const maxWidth = 120;
const sampleHead = /^[\s\S]*?^kind: KubeletConfiguration\n/m;
const tableMarkers = /(<!-- The table of fields; made by scripts\/generate.ts -->\n)[\s\S]*(<!-- end -->)/;

/** `etc/config.yaml` with its head as it is, and all fields below that. */
export function sampleWith(fields: Fields, sample: string): string {
  const paragraphs = Object.entries(fields).map(([name, field]) => paragraph(name, field).join('\n'));
  return `${sampleHead.exec(sample)?.[0] ?? ''}\n${paragraphs.join('\n\n')}\n`;
}

/** `docs/configuration.md` with the table between its two marks. */
export function documentationWith(fields: Fields, page: string): string {
  const rows = Object.entries(fields).flatMap(([name, field]) => rowsOf(name, field, field.needsRestart));
  const head = ['field', 'default', 'values', 'reload', 'what it is'];
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`);
  return page.replace(tableMarkers, (_all, begin: string, end: string) => `${begin}${lines.join('')}${end}`);
}

function paragraph(name: string, field: Field): string[] {
  const comment = commentOf(name, field, '# ');
  if (field.fields === undefined) return [...comment, ...valueLines(name, sampleValue(field))];
  const inner = Object.entries(field.fields).flatMap(([key, each]) => [
    ...commentOf(key, each, '#  # '),
    `#  ${key}: ${flow(sampleValue(each))}`,
  ]);
  return [...comment, `#${name}:`, ...inner];
}

/** A map that has entries stands in lines of its own. */
function valueLines(name: string, value: Json | undefined): string[] {
  if (typeof value !== 'object' || Array.isArray(value) || Object.keys(value).length === 0)
    return [`#${name}: ${flow(value)}`];
  return [`#${name}:`, ...Object.entries(value).map(([key, inner]) => `#  ${key}: ${flow(inner)}`)];
}

/** An example stands in a line of its own, however long it is. */
function commentOf(name: string, field: Field, begin: string): string[] {
  const { example } = field;
  return [
    ...wrap(noteOf(field), begin),
    ...(example === undefined ? [] : [`${begin}Example: ${name}: ${example}`]),
  ];
}

function noteOf(field: Field): string {
  const { doc, defaultInWords, follows } = field;
  const standalone = flow(defaultOf(field, true));
  const notes = [
    doc,
    defaultInWords && `Default: ${defaultInWords}.`,
    follows && `A file that states only ${follows} sets both.`,
    field.fields === undefined &&
      standalone !== flow(defaultOf(field, false)) &&
      `Default without a control plane: ${standalone}.`,
  ];
  const text = notes.filter((note) => typeof note === 'string').join(' ');
  return text.replaceAll('`', '').replaceAll(/\[[^\]]*\]\(([^)]*)\)/g, 'docs/$1');
}

/** The default, or what an absent field reads as; undefined where that cannot be stated. */
function sampleValue(field: Field): Json | undefined {
  if (field.default !== undefined) return field.default;
  if (field.fields === undefined) return emptyValues[field.schema.t];
  const entries = Object.entries(field.fields).flatMap(([name, inner]): [string, Json][] => {
    const value = sampleValue(inner);
    return value === undefined || (inner.fields !== undefined && flow(value) === '{}') ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

const emptyValues: Readonly<Record<string, Json>> = { string: '', bool: false, list: [], map: {} };

/** Of a section a row for each field, unless the section says in one range what all of them may be. */
function rowsOf(name: string, field: Field, needsRestart = false): string[][] {
  if (field.fields !== undefined && field.range === undefined)
    return Object.entries(field.fields).flatMap(([key, inner]) =>
      rowsOf(`${name}.${key}`, inner, needsRestart),
    );
  const { doc, flag, range = '' } = field;
  const what = flag ? `${doc} Flag \`${flagName(name)}\`.` : doc;
  return [[`\`${name}\``, defaultText(field), range, needsRestart ? 'restart' : 'at once', what]];
}

function defaultText(field: Field): string {
  const { defaultInWords, follows, standaloneDefault } = field;
  const value = defaultOf(field, false) ?? (field.schema.t === 'bool' ? false : undefined);
  const text = defaultInWords ?? (value === undefined ? 'none' : code(value));
  if (follows !== undefined) return `${text}, or that of \`${follows}\` where only that is stated`;
  return standaloneDefault === undefined
    ? text
    : `${text}; ${code(standaloneDefault)} without a control plane`;
}

function code(value: Json): string {
  if (typeof value !== 'object' || Array.isArray(value)) return `\`${flow(value)}\``;
  return Object.entries(value)
    .map(([key, inner]) => `\`${key}: ${flow(inner)}\``)
    .join(', ');
}

/** A value as YAML in a line. */
function flow(value: Json | undefined): string {
  if (value === undefined) return 'null';
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (typeof value === 'string') return /^[\w./][\w./%-]*$/.test(value) ? value : JSON.stringify(value);
  if (typeof value !== 'object') return String(value);
  const entries = Object.entries(value).map(([key, inner]) => `${key}: ${flow(inner)}`);
  return `{${entries.join(', ')}}`;
}

function wrap(text: string, begin: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || `${last} ${word}`.length > maxWidth) lines.push(`${begin}${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

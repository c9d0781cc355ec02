import { InvalidArgumentError, Option } from 'commander';
import { writeYaml } from '../../api/index.ts';
import { createPaint } from './colour.ts';
import type { CommandContext } from './context.ts';
import { isTerminal } from './context.ts';
import type { Result } from './result.ts';
import { isTable, renderForPeople } from './result.ts';
import { sanitize } from './text.ts';

/**
 * `table` and `wide` are a list for people, `text` is an explanation for people, `name` is one name a line for scripts.
 * Every command that has a result takes all of them and `json` and `yaml`; where a result is no list, `table` and `wide`
 * mean `text`, and where it is one, `text` means `table`.
 */
export type OutputFormat = 'table' | 'wide' | 'text' | 'json' | 'yaml' | 'name';

export interface OutputFlags {
  output: OutputFormat;
}

const listFormats = ['table', 'wide', 'json', 'yaml', 'name'] as const;
const textFormats = ['text', 'json', 'yaml', 'name'] as const;

/** `-o` of a command whose result is a list. */
export const listOutputOption = (): Option => createOption(listFormats, '');

/** `-o` of a command whose result is an explanation or a report. `more`: formats that only this command has. */
export const textOutputOption = (...more: readonly string[]): Option =>
  createOption([...textFormats, ...more], '');

/** As `textOutputOption`, for a command that also writes a file: it says how the file is named. */
export const fileOutputOption = (): Option =>
  createOption(textFormats, ' A file is named with --output-file FILE.');

function createOption(formats: readonly string[], advice: string): Option {
  const [first = 'text'] = formats;
  return new Option('-o, --output <format>', 'output format')
    .choices(formats)
    .default(first)
    .argParser((text) => {
      if (formats.includes(text)) return text;
      if (first === 'table' && text === 'text') return first;
      if (first === 'text' && (text === 'table' || text === 'wide')) return first;
      throw new InvalidArgumentError(`Allowed choices are ${formats.join(', ')}.${advice}`);
    });
}

/** Writes a result to standard output. Remarks for people on a list without rows go to standard error. */
export function writeResult<Row>(context: CommandContext, output: OutputFormat, result: Result<Row>): void {
  const { stdout, stderr } = context;
  if (output === 'json') stdout.write(`${JSON.stringify(result.document, undefined, 2)}\n`);
  else if (output === 'yaml') stdout.write(writeYaml(result.document));
  else if (output === 'name') stdout.write(renderNames(result));
  else if (isTable(result) && result.rows.length === 0 && result.empty === undefined)
    stderr.write(`${noResources(result.namespace)}\n`);
  else stdout.write(renderForPeople(result, output, createPaint(context)));
}

/** One line for each; what others wrote cannot make two lines of one. */
function renderNames<Row>(result: Result<Row>): string {
  const names = isTable(result) ? result.rows.flatMap(result.name) : result.names;
  return [...new Set(names)].map((name) => (name === '' ? '' : `${sanitize(name)}\n`)).join('');
}

/** As kubectl says it. */
function noResources(namespace: string | undefined): string {
  return namespace === undefined ? 'No resources found' : `No resources found in ${namespace} namespace.`;
}

/** Whether the result is meant for people. */
export function isForPeople(output: OutputFormat): boolean {
  return output === 'table' || output === 'wide' || output === 'text';
}

/** Remarks beside the result, on standard error. */
export function writeNotes(context: CommandContext, notes: readonly string[] = []): void {
  writeLines(context, 'note', notes);
}

export function writeWarnings(context: CommandContext, warnings: readonly string[]): void {
  writeLines(context, 'warning', warnings);
}

/** What a command says of itself, in one line on standard error; dim on a terminal. */
export function writeRemark({ stderr, env }: CommandContext, text: string): void {
  const line = sanitize(text);
  const dim = isTerminal(stderr) && !env['NO_COLOR'];
  stderr.write(dim ? `\u001b[2m${line}\u001b[22m\n` : `${line}\n`);
}

function writeLines({ stderr }: CommandContext, label: string, texts: readonly string[]): void {
  for (const text of texts) stderr.write(`${label}: ${sanitize(text)}\n`);
}

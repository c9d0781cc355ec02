import { Option } from 'commander';
import { writeYaml } from '../../api/index.ts';
import type { CommandContext } from './context.ts';
import { isTerminal } from './context.ts';
import { sanitize } from './text.ts';

/** `text` and `table` are for people. */
type OutputFormat = 'text' | 'table' | 'json' | 'yaml';

export interface OutputFlags {
  output: OutputFormat;
}

/** `-o`; the first format is the default. */
export function outputOption(...formats: readonly [string, ...string[]]): Option {
  return new Option('-o, --output <format>', 'output format').choices(formats).default(formats[0]);
}

/** Writes a result to standard output; `toText` renders it for people. */
export function writeResult(
  { stdout }: CommandContext,
  output: OutputFormat,
  result: object,
  toText: () => string,
): void {
  stdout.write(render(output, result, toText));
}

function render(output: OutputFormat, result: object, toText: () => string): string {
  if (output === 'json') return `${JSON.stringify(result, undefined, 2)}\n`;
  return output === 'yaml' ? writeYaml(result) : toText();
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

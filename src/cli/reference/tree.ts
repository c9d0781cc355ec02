import type { Argument, Command, Option } from 'commander';

/*
 * What the man pages, the completion of shells and the page of commands are made from: the tree of commands itself.
 */

/** An option, as far as users see it. */
export interface Flag {
  /** `-o`, if there is one. */
  readonly short: string | undefined;
  /** `--output` */
  readonly long: string;
  /** `<format>`; undefined for a flag without a value. */
  readonly value: string | undefined;
  readonly description: string;
  readonly choices: readonly string[];
  /** As it is shown; undefined if there is none. */
  readonly default: string | undefined;
}

export interface Operand {
  /** `<id...>` */
  readonly name: string;
  readonly description: string;
  readonly choices: readonly string[];
}

export interface CommandPage {
  /** `['checkpoint', 'ls']`; empty for the program. */
  readonly path: readonly string[];
  readonly description: string;
  readonly operands: readonly Operand[];
  readonly flags: readonly Flag[];
  readonly children: readonly CommandPage[];
}

/** Options of a group that may stand behind its subcommands count as theirs. */
export function toPage(
  command: Command,
  path: readonly string[] = [],
  inherited: readonly Flag[] = [],
): CommandPage {
  const own = command.options.filter(({ hidden }) => !hidden).map(toFlag);
  const flags = [...own, ...inherited];
  const handedDown = path.length === 0 ? [] : flags;
  return {
    path,
    description: command.description(),
    operands: command.registeredArguments.map(toOperand),
    flags,
    children: command.commands.map((each) => toPage(each, [...path, each.name()], handedDown)),
  };
}

function toFlag({ short, long, flags, description, argChoices, ...option }: Option): Flag {
  const [, value] = /([<[].*[>\]])$/.exec(flags) ?? [];
  return {
    short,
    long: long ?? '',
    value,
    description: description ?? '',
    choices: argChoices ?? [],
    default: describeDefault(option.defaultValue, option.defaultValueDescription),
  };
}

function describeDefault(value: unknown, description: string | undefined): string | undefined {
  if (description !== undefined) return description;
  if (value === undefined || value === false || typeof value === 'object') return undefined;
  return String(value);
}

function toOperand(argument: Argument): Operand {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return {
    name: argument.required ? `<${name}>` : `[${name}]`,
    description: argument.description,
    choices: argument.argChoices ?? [],
  };
}

/** The page and all below it, each before its children. */
export function listPages(page: CommandPage): CommandPage[] {
  return [page, ...page.children.flatMap(listPages)];
}

export const nameOfPage = ({ path }: CommandPage): string => ['nodeward', ...path].join(' ');

/** `nodeward checkpoint get [options] <id>` */
export function usageOf(page: CommandPage): string {
  const options = page.flags.length === 0 ? [] : ['[options]'];
  const rest = page.children.length > 0 ? ['<command>'] : page.operands.map(({ name }) => name);
  return [nameOfPage(page), ...options, ...rest].join(' ');
}

/** `-o, --output <format>` */
export function spellingOf({ short, long, value }: Flag): string {
  const names = short === undefined ? long : `${short}, ${long}`;
  return value === undefined ? names : `${names} ${value}`;
}

/** The description with the values and the default. */
export function explanationOf({ description, choices, default: preset }: Flag): string {
  const more = [
    ...(choices.length === 0 ? [] : [`one of ${choices.join(', ')}`]),
    ...(preset === undefined ? [] : [`default: ${preset}`]),
  ];
  return more.length === 0 ? description : `${description} (${more.join('; ')})`;
}

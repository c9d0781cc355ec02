import type { Command, Option } from 'commander';

/** Flags that one program takes for another that it starts. */
export interface PassedOnFlags {
  options: readonly Option[];
  /** Those that were given, as they were given: what was not counts by the other program's own defaults. */
  given(command: Command): string[];
}

/** Takes `options` over: each remembers the words that it was given, once per mention. */
export function passedOnFlags(options: readonly Option[]): PassedOnFlags {
  const words: string[] = [];
  for (const option of options.filter(takesText)) {
    const parse = option.parseArg;
    option.argParser((text, before) => {
      const value = parse === undefined ? text : parse.call(option, text, before);
      words.push(`${nameOf(option)}=${text}`);
      return value;
    });
  }
  const switches = options.filter((option) => !takesText(option));
  return {
    options,
    given(command) {
      const on = switches.filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli');
      return [...words, ...on.map(nameOf)];
    },
  };
}

function takesText({ required, optional }: Option): boolean {
  return required || optional;
}

function nameOf({ long, flags }: Option): string {
  return long ?? flags;
}

import type { Command, Option } from 'commander';

/**
 * The options that a command takes for a program that it starts. Only what was given is forwarded, as it was given, so
 * that the other program applies its own defaults.
 */
export class ForwardedOptions {
  readonly #options: readonly Option[];
  readonly #withValue: string[] = [];

  /** Replaces the parsers of the options by ones that also record the given text, once for each occurrence. */
  constructor(options: readonly Option[]) {
    this.#options = options;
    for (const option of options.filter(takesValue)) {
      const parse = option.parseArg;
      option.argParser((text, before) => {
        const value = parse === undefined ? text : parse.call(option, text, before);
        this.#withValue.push(`${nameOf(option)}=${text}`);
        return value;
      });
    }
  }

  get options(): readonly Option[] {
    return this.#options;
  }

  /** The arguments for the other program, once `command` has been parsed. */
  args(command: Command): string[] {
    const switches = this.#options.filter((option) => !takesValue(option));
    const given = switches.filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli');
    return [...this.#withValue, ...given.map(nameOf)];
  }
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

function nameOf({ long, flags }: Option): string {
  return long ?? flags;
}

import type { Command } from 'commander';

/**
 * The arguments with `=true` behind each flag whose value may be left out (`--flag [true|false]`), unless its value
 * follows: otherwise the next argument would be taken for the value, whatever it is.
 */
export function bindOptionalValues(program: Command, args: readonly string[]): string[] {
  const flags = new Set(listOptionalFlags(program));
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  return args.map((each, index) => {
    const isBare = index < end && flags.has(each);
    return isBare && !['true', 'false'].includes(args[index + 1] ?? '') ? `${each}=true` : each;
  });
}

function listOptionalFlags(command: Command): string[] {
  const own = command.options.filter(({ optional, flags }) => optional && flags.endsWith('[true|false]'));
  return [...own.flatMap(({ long }) => long ?? []), ...command.commands.flatMap(listOptionalFlags)];
}

import { Command, Option } from 'commander';
import type { LoadedConfig } from '../agent/index.ts';
import { originTableText } from './config-table.ts';
import type { CommandContext } from './context.ts';
import type { ConfigFlags } from './flags/config-flags.ts';
import {
  configFieldOptions,
  configFileOptions,
  configSources,
  controlPlaneChoiceOptions,
} from './flags/config-flags.ts';

type Format = 'yaml' | 'json';

interface ViewFlags extends ConfigFlags {
  output?: Format;
  origin?: boolean;
}

/** `nodeward config view` and `nodeward config check`: what an agent with these flags would run with. */
export function configCommand(context: CommandContext): Command {
  return new Command('config')
    .description('Look at the configuration of the node agent, without starting one.')
    .addCommand(viewCommand(context))
    .addCommand(checkCommand(context));
}

function viewCommand(context: CommandContext): Command {
  const command = new Command('view')
    .description('Print the effective configuration; given the flags of an agent, what that agent would use.')
    .addOption(new Option('-o, --output <format>', 'yaml (the default) or json').choices(['yaml', 'json']))
    .addOption(
      new Option('--origin', 'print for each value whence it comes and what it overrode; a table without -o'),
    );
  return withConfigFlags(command).action(async (flags: ViewFlags) => {
    const loaded = await load(flags, context);
    context.stdout.write(await viewText(loaded, flags));
  });
}

function checkCommand(context: CommandContext): Command {
  const command = new Command('check').description(
    'Look for everything that is wrong with the configuration; ends with 3 when there is something.',
  );
  return withConfigFlags(command).action(async (flags: ConfigFlags) => {
    const { warnings } = await load(flags, context);
    const told = warnings.length === 0 ? '' : `, with ${counted(warnings.length, 'warning')}`;
    context.stdout.write(`the configuration is good${told}\n`);
  });
}

function withConfigFlags(command: Command): Command {
  for (const option of [...configFileOptions(), ...controlPlaneChoiceOptions(), ...configFieldOptions()])
    command.addOption(option);
  return command;
}

/** Throws what is wrong with the configuration; its warnings go to standard error. */
async function load(flags: ConfigFlags, context: CommandContext): Promise<LoadedConfig> {
  const { loadConfig, checkServingFiles } = await import('../agent/index.ts');
  const loaded = await loadConfig(configSources(flags));
  await checkServingFiles(loaded.config.files);
  for (const warning of loaded.warnings) context.stderr.write(`warning: ${warning}\n`);
  return loaded;
}

async function viewText(loaded: LoadedConfig, { origin, output }: ViewFlags): Promise<string> {
  const { originTable } = await import('../agent/index.ts');
  const rows = originTable(loaded.provenance);
  if (origin && output === undefined) return originTableText(rows);
  const shown = origin ? rows : loaded.printable;
  if (output === 'json') return `${JSON.stringify(shown, undefined, 2)}\n`;
  const { writeYaml } = await import('../api/index.ts');
  return writeYaml(shown);
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

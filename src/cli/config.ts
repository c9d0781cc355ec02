import { Command, Option } from 'commander';
import type { LoadedConfig, OriginRow } from '../agent/index.ts';
import { findExaminedAgent } from './agent-client/examined-agent.ts';
import type { PlaceFlags } from './flags/common-flags.ts';
import { groupSuffixOption, rootDirOption } from './flags/common-flags.ts';
import type { ConfigFlags } from './flags/config-flags.ts';
import { configFieldOptions, configFileOptions, controlPlaneChoiceOptions } from './flags/config-flags.ts';
import type { CommandContext } from './terminal/context.ts';
import type { OutputFlags, OutputFormat } from './terminal/output.ts';
import {
  isForPeople,
  listOutputOption,
  textOutputOption,
  writeRemark,
  writeResult,
  writeWarnings,
} from './terminal/output.ts';
import type { TableResult } from './terminal/result.ts';

interface CheckFlags extends ConfigFlags, PlaceFlags {
  groupSuffix: string;
}

interface ViewFlags extends CheckFlags {
  output?: OutputFormat;
  origin?: boolean;
}

/**
 * `nodeward config view` and `nodeward config check`: the configuration that an agent with these flags would have; without
 * files among the flags, that of the agent that runs, or of the installed one.
 */
export function configCommand(context: CommandContext): Command {
  return new Command('config')
    .description('Inspect the configuration of the node agent, without starting one.')
    .addCommand(viewCommand(context))
    .addCommand(checkCommand(context));
}

function viewCommand(context: CommandContext): Command {
  const command = new Command('view')
    .description(
      'Print the effective configuration: what the agent that runs would use after a restart, or one with these flags.',
    )
    .addOption(listOutputOption().default(undefined, 'yaml, and table with --origin'))
    .addOption(
      new Option(
        '--origin',
        'print for each value where it comes from and what it overrides; a table without -o',
      ),
    );
  return addConfigOptions(command).action(async (flags: ViewFlags) => {
    const loaded = await load(flags, context, flags.output !== undefined);
    const { originTable } = await import('../agent/index.ts');
    const { origin = false, output = origin ? 'table' : 'yaml' } = flags;
    const origins = listOrigins(originTable(loaded.provenance));
    writeResult(context, output, origin ? origins : { ...origins, document: loaded.printable });
  });
}

function checkCommand(context: CommandContext): Command {
  const command = new Command('check')
    .description('Report everything that is wrong with the configuration; exit code 3 if there is something.')
    .addOption(textOutputOption());
  return addConfigOptions(command).action(async (flags: CheckFlags & OutputFlags) => {
    const { warnings } = await load(flags, context, !isForPeople(flags.output));
    const count = warnings.length;
    const suffix = count === 0 ? '' : `, with ${count} warning${count === 1 ? '' : 's'}`;
    writeResult(context, flags.output, {
      document: { valid: true, warnings },
      names: [],
      text: () => `the configuration is good${suffix}\n`,
    });
  });
}

function addConfigOptions(command: Command): Command {
  const choices = [...configFileOptions(), ...controlPlaneChoiceOptions(), ...configFieldOptions()];
  for (const option of [rootDirOption(), ...choices, groupSuffixOption()]) command.addOption(option);
  return command;
}

/**
 * Writes warnings to standard error and, unless the output is for programs, which files are looked at. Throws an ExitError
 * for a configuration that cannot be used.
 */
async function load(flags: CheckFlags, context: CommandContext, forPrograms: boolean): Promise<LoadedConfig> {
  const { loadConfig, checkServingFiles } = await import('../agent/index.ts');
  const { sources, described } = await findExaminedAgent(flags, context);
  if (!forPrograms) writeRemark(context, `looking at ${described}`);
  const loaded = await loadConfig(sources);
  await checkServingFiles(loaded.config.files);
  writeWarnings(context, loaded.warnings);
  return loaded;
}

function listOrigins(rows: readonly OriginRow[]): TableResult<OriginRow> {
  return {
    document: rows,
    rows,
    columns: [
      { head: 'FIELD', cell: ({ field }) => field },
      { head: 'VALUE', cell: ({ value }) => (value === undefined ? '(removed)' : formatValue(value)) },
      { head: 'FROM', cell: ({ origin }) => origin },
      {
        head: 'OVERRODE',
        cell: ({ overrode }) =>
          overrode.map(({ value, origin }) => `${formatValue(value)} (${origin})`).join(', '),
      },
    ],
    name: ({ field }) => field,
  };
}

const maxValueLength = 60;

function formatValue(value: unknown): string {
  const text = typeof value === 'string' && /^[\w./:%=+-]+$/.test(value) ? value : JSON.stringify(value);
  return text.length <= maxValueLength ? text : `${text.slice(0, maxValueLength - 1)}…`;
}

import { join } from 'node:path';
import { Command } from 'commander';
import { describeError, errorCode, readRegularFile } from '../../base/index.ts';
import type { AgentPlaceFlags, ConfigFlags } from '../flags/config-flags.ts';
import { agentPlaceOptions, configFieldOptions, controlPlaneChoiceOptions } from '../flags/config-flags.ts';
import { parsePort } from '../flags/values.ts';

const limitBytes = 64 * 1024;
const variables = ['NODEWARD_JOIN_FLAGS', 'NODEWARD_FLAGS'];

/** The flags with which systemd starts the installed agent, as far as commands examine them. */
export type InstalledFlags = ConfigFlags & Partial<AgentPlaceFlags> & { securePort?: number };

/**
 * Reads the flags in the agent.env of a folder. A flag that an agent would refuse is in `fault`, and none counts then; without
 * the file there are none.
 */
export async function readInstalledFlags(
  folder: string,
): Promise<{ flags: InstalledFlags; fault: string | undefined }> {
  const path = join(folder, 'agent.env');
  try {
    const text = (await readRegularFile(path, { limitBytes })).toString('utf8');
    return { flags: parseFlags(variables.flatMap((name) => readWords(text, name))), fault: undefined };
  } catch (error) {
    const isMissing = errorCode(error) === 'ENOENT';
    return { flags: {}, fault: isMissing ? undefined : `${path}: ${describeError(error)}` };
  }
}

/** The words of the last line that sets a variable, without the quotes around the value: as systemd splits them. */
function readWords(text: string, name: string): string[] {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}=`));
  const value = (lines.at(-1) ?? '').slice(name.length + 1).trim();
  const plain = /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
  return plain.split(/\s+/).filter((word) => word !== '');
}

/** Flags that concern other parts of the agent are passed over. */
function parseFlags(words: readonly string[]): InstalledFlags {
  const command = new Command()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .allowUnknownOption()
    .allowExcessArguments();
  for (const option of [...agentPlaceOptions(), ...controlPlaneChoiceOptions(), ...configFieldOptions()])
    command.addOption(option);
  command.option('--secure-port <port>', '', parsePort);
  command.parse([...words], { from: 'user' });
  const given = Object.entries(command.opts()).filter(
    ([name]) => command.getOptionValueSource(name) === 'cli',
  );
  return Object.fromEntries(given);
}

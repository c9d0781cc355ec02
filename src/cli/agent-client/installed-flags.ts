import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { describeError, errorCode, readRegularFile } from '../../base/index.ts';
import { installedRootDir } from '../flags/common-flags.ts';
import type { AgentPlaceFlags, ConfigFlags } from '../flags/config-flags.ts';
import { agentPlaceOptions, configFieldOptions, controlPlaneChoiceOptions } from '../flags/config-flags.ts';
import { parsePort } from '../flags/values.ts';

const limitBytes = 64 * 1024;
const variables = ['NODEWARD_JOIN_FLAGS', 'NODEWARD_FLAGS'];

/** The flags with which systemd starts the installed agent, as far as commands examine them. */
export type InstalledFlags = ConfigFlags & Partial<AgentPlaceFlags> & { securePort?: number };

/** The folder of an installed agent's configuration; `scripts/install --etc-dir` puts it elsewhere. */
export function configurationFolder(env: NodeJS.ProcessEnv): string {
  return env['NODEWARD_ETC_DIR'] || '/etc/nodeward';
}

/** The root folder of the installed agent: what its agent.env says, where that can be read, else the usual one. */
export function findInstalledRootDir(env: NodeJS.ProcessEnv): string {
  const path = join(configurationFolder(env), 'agent.env');
  try {
    const stats = statSync(path);
    const isReadable = stats.isFile() && stats.size <= limitBytes;
    return (isReadable ? readRootDir(readFileSync(path, 'utf8')) : undefined) ?? installedRootDir;
  } catch {
    return installedRootDir;
  }
}

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
export function readWords(text: string, name: string): string[] {
  return (readValue(text, name) ?? '').split(/\s+/).filter((word) => word !== '');
}

/** The value in the last line that sets a variable, without the quotes around it. */
function readValue(text: string, name: string): string | undefined {
  const lines = text.split('\n').map((line) => line.trimStart());
  const last = lines.findLast((line) => line.startsWith(`${name}=`));
  const value = last?.slice(name.length + 1).trim();
  return value === undefined ? undefined : (/^(["'])(.*)\1$/.exec(value)?.[2] ?? value);
}

/** The root folder that an agent.env with this text gives the agent: by a flag, else by NODEWARD_ROOT_DIR. */
export function readRootDir(text: string): string | undefined {
  const words = variables.flatMap((name) => readWords(text, name));
  const at = words.findLastIndex((word) => word === '--root-dir' || word.startsWith('--root-dir='));
  const fromFlag = words[at] === '--root-dir' ? words[at + 1] : words[at]?.slice('--root-dir='.length);
  const path = fromFlag || readValue(text, 'NODEWARD_ROOT_DIR');
  return path ? resolve('/', path) : undefined;
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

import type { Command, Option } from 'commander';
import type { PlaceFlags } from '../flags/common-flags.ts';
import { installedRootDir, OwnRootDirOption, RootDirOption, ServerOption } from '../flags/common-flags.ts';
import { parseFilePath } from '../flags/values.ts';
import type { CommandContext } from '../terminal/context.ts';
import { writeRemark } from '../terminal/output.ts';
import { findInstalledRootDir } from './installed-flags.ts';
import type { Place } from './place.ts';
import { findPlace } from './place.ts';

/** An option, and the command that has it: the one that runs, or a group above it. */
interface Owned<T extends Option = Option> {
  command: Command;
  option: T;
}

/**
 * Sets `--root-dir` and `--kubeconfig` of a command that is about to run to what `findPlace` finds when they were not
 * given; and `announcePlace` to what says so, unless the output is for programs.
 */
export function fillPlace(command: Command, context: CommandContext): void {
  fillOwnRootDir(command, context);
  const rootDir = findOption(command, RootDirOption);
  if (rootDir === undefined) return;
  const server = findOption(command, ServerOption);
  const given = { rootDir: givenValue(rootDir), kubeconfig: server && givenValue(server) };
  const usesServer = server?.option.variableCounts ?? false;
  const place = findPlace({ ...given, usesServer }, context);
  if (given.rootDir === undefined)
    setValue(rootDir, place.kind === 'rootDir' ? place.path : findInstalledRootDir(context.env));
  if (server !== undefined && place.kind === 'kubeconfig') setValue(server, place.path);
  if (given.rootDir !== undefined || given.kubeconfig !== undefined || isForPrograms(command)) return;
  let isAnnounced = false;
  const announce = () => {
    if (!isAnnounced) writeRemark(context, describePlace(place));
    isAnnounced = true;
  };
  rootDir.command.setOptionValueWithSource('announcePlace' satisfies keyof PlaceFlags, announce, 'implied');
}

/** `using /home/me/nodeward/.nodeward, of this checkout` */
export function describePlace({ path, origin }: Place): string {
  return `using ${path}, ${origin}`;
}

/** A process that makes its root folder takes it from its flag or its variable, and from nowhere else. */
function fillOwnRootDir(command: Command, { env }: CommandContext): void {
  const own = findOption(command, OwnRootDirOption);
  if (own === undefined || givenValue(own) !== undefined) return;
  setValue(own, parseFilePath(env['NODEWARD_ROOT_DIR'] || installedRootDir));
}

function findOption<T extends Option>(
  command: Command,
  type: abstract new (...values: never[]) => T,
): Owned<T> | undefined {
  for (let each: Command | null = command; each !== null; each = each.parent) {
    const option = each.options.find((one): one is T => one instanceof type);
    if (option !== undefined) return { command: each, option };
  }
  return undefined;
}

function givenValue({ command, option }: Owned): string | undefined {
  const value: unknown = command.getOptionValue(option.attributeName());
  return typeof value === 'string' ? value : undefined;
}

function setValue({ command, option }: Owned, value: string): void {
  command.setOptionValueWithSource(option.attributeName(), value, 'implied');
}

function isForPrograms(command: Command): boolean {
  const { output } = command.optsWithGlobals<{ output?: unknown }>();
  return output === 'json' || output === 'yaml';
}

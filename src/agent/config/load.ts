import type { Logger } from '../../base/index.ts';
import type { Decoded } from './decode.ts';
import { defaultLayer, withoutZeros } from './defaults.ts';
import type { EffectiveConfig } from './effective.ts';
import { computeEffective } from './effective.ts';
import type { ReadFile } from './files.ts';
import { listDropIns, readConfigFile } from './files.ts';
import type { FlagValues } from './flags.ts';
import { flagLayer } from './flags.ts';
import type { LocatedMap } from './located.ts';
import { defaultOrigin, mapOf, originText, spotsOf } from './located.ts';
import { mergeLayers } from './merge.ts';
import type { Problem } from './problems.ts';
import { ConfigError, sortProblems } from './problems.ts';
import { validate } from './validate.ts';

/*
 * Pure stages after the reading; each adds to one list of problems, so that a person sees them all at once.
 *
 *   read ─► decode each file strictly ─► merge main < drop-ins ─► zero means unset ─► over the defaults,
 *   under the flags ─► validate ─► compute ─► frozen
 *
 * A field with a problem is left out of what follows, so that one mistake is told once.
 */

export interface ConfigSources {
  /** The main file (`--config`). */
  config?: string | undefined;
  /** The folder of drop-ins (`--config-dir`). */
  configDir?: string | undefined;
  flags: FlagValues;
  log: Logger;
}

export interface LoadedConfig {
  config: EffectiveConfig;
  /** Things a person should know; already logged. */
  warnings: readonly string[];
  /** For each value where it was stated: `FILE:LINE`, `flag --NAME` or `default`. */
  origins: ReadonlyMap<string, string>;
}

/** Throws a ConfigError with all problems of all files and flags. */
export async function loadConfig(sources: ConfigSources): Promise<LoadedConfig> {
  const { config, configDir, flags, log } = sources;
  const problems: Problem[] = [];
  const dropIns = configDir === undefined ? [] : await listDropIns(configDir, problems);
  const files: ReadFile[] = [];
  for (const file of [...(config === undefined ? [] : [config]), ...dropIns]) {
    files.push(await readConfigFile(file, problems));
    log.debug({ file }, 'read configuration');
  }
  const decoded = await decodeAll(files);
  for (const file of decoded) problems.push(...file.problems);
  const loaded = resolve(
    decoded,
    flags,
    problems,
    files.map(({ file }) => file),
  );
  for (const warning of loaded.warnings) log.warn(warning);
  return loaded;
}

/** The YAML library is loaded only when there is something to read with it. */
async function decodeAll(files: readonly ReadFile[]): Promise<Decoded[]> {
  if (files.length === 0) return [];
  const { decodeText } = await import('./decode.ts');
  return files.flatMap(({ file, text }) => (text === undefined ? [] : [decodeText(text, file)]));
}

function resolve(
  decoded: readonly Decoded[],
  flags: FlagValues,
  problems: Problem[],
  order: readonly string[],
): LoadedConfig {
  let stated: LocatedMap = mapOf([], defaultOrigin);
  for (const { value } of decoded) if (value !== undefined) stated = mergeLayers(stated, value);
  const { layer, zeros } = withoutZeros(stated);
  const fromFlags = flagLayer(flags);
  const merged = mergeLayers(mergeLayers(defaultLayer(), layer), fromFlags.layer);
  problems.push(...fromFlags.problems, ...validate(merged));
  if (problems.length > 0) {
    throw new ConfigError(sortProblems(problems, order));
  }
  const { config, warnings } = computeEffective(merged);
  const unset = zeros.map(({ name, at }) => `${originText(at)}: ${name}: zero means the default`);
  return { config, warnings: [...unset, ...warnings], origins: originsOf(merged) };
}

function originsOf(merged: LocatedMap): ReadonlyMap<string, string> {
  const fields = [...spotsOf(merged)].filter(([path]) => path !== 'apiVersion' && path !== 'kind');
  return new Map(fields.map(([path, spot]) => [path, originText(spot.key)]));
}

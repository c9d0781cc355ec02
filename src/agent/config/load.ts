import type { Decoded } from './decode.ts';
import type { EffectiveConfig } from './effective.ts';
import { computeEffective } from './effective.ts';
import { configFields } from './fields.ts';
import type { ReadFile } from './files.ts';
import { listDropIns, readConfigFile } from './files.ts';
import type { FlagValues } from './flags.ts';
import { flagLayer } from './flags.ts';
import { inertWarnings } from './inert-fields.ts';
import { defaultLayer, validate, withoutZeros } from './layers.ts';
import type { LocatedMap } from './located.ts';
import { defaultOrigin, formatOrigin, locationsOf, mapOf, mergeLayers } from './located.ts';
import type { Problem } from './problems.ts';
import { ConfigError, sortProblems } from './problems.ts';
import type { PrintableConfig, Provenance } from './view.ts';
import { explain, toPrintable } from './view.ts';

/*
 * Pure stages after the reading; each adds to one list of problems, so that a person sees all of them at once.
 *
 *   read ─► decode each file strictly ─► merge main < drop-ins ─► zero means unset ─► over the defaults,
 *   under the flags ─► validate ─► compute ─► frozen
 *
 * A field with a problem is left out of the stages that follow, so that one mistake is reported once.
 */

export interface ConfigSources {
  /** The main file (`--config`). */
  config?: string | undefined;
  /** The folder of drop-ins (`--config-dir`). */
  configDir?: string | undefined;
  flags: FlagValues;
  /** Of the API groups, and so of the configuration's own; default k8s.io. */
  groupSuffix?: string | undefined;
  /** There is no control plane: every known caller may do everything, unless the files state otherwise. */
  standalone?: boolean;
}

export interface LoadedConfig {
  config: EffectiveConfig;
  /** Things a person should know. */
  warnings: readonly string[];
  /** The files that were read, in the order of the layers. */
  files: readonly string[];
  /** For each value where it was stated: `FILE:LINE`, `flag --NAME` or `default`. */
  origins: ReadonlyMap<string, string>;
  /** Every value with where it comes from and what it overrode; without secrets. */
  provenance: readonly Provenance[];
  /** The whole as it may be printed: without secrets. */
  printable: PrintableConfig;
  /** The same with secrets and origins, for a later comparison. */
  merged: LocatedMap;
}

/** Throws a ConfigError with all problems of all files and flags. */
export async function loadConfig(sources: ConfigSources): Promise<LoadedConfig> {
  const { config, configDir } = sources;
  const problems: Problem[] = [];
  const dropIns = await listDropIns(configDir, problems);
  const files: ReadFile[] = [];
  for (const file of [...(config === undefined ? [] : [config]), ...dropIns.files]) {
    files.push(await readConfigFile(file, problems));
  }
  const decoded = await decodeAll(files, sources.groupSuffix);
  for (const file of decoded) problems.push(...file.problems);
  const read = {
    files: files.map(({ file }) => file),
    layers: decoded.flatMap(({ value }) => (value === undefined ? [] : [value])),
    warnings: dropIns.warnings,
  };
  return resolve(read, sources, problems);
}

/** The YAML library is loaded only when there is something to read with it. */
async function decodeAll(files: readonly ReadFile[], groupSuffix?: string): Promise<Decoded[]> {
  if (files.length === 0) return [];
  const { decodeText } = await import('./decode.ts');
  return files.flatMap(({ file, text }) => (text === undefined ? [] : [decodeText(text, file, groupSuffix)]));
}

/** What all files state, from the lowest layer to the highest. */
interface ReadLayers {
  files: readonly string[];
  layers: readonly LocatedMap[];
  warnings: readonly string[];
}

function resolve(
  { files, layers, warnings }: ReadLayers,
  { flags, standalone = false }: ConfigSources,
  problems: Problem[],
): LoadedConfig {
  const stated = layers.reduce(mergeLayers, mapOf([], defaultOrigin));
  const { layer, zeros } = withoutZeros(configFields, stated);
  const fromFlags = flagLayer(flags);
  const defaults = defaultLayer(configFields, layer, standalone);
  const merged = mergeLayers(mergeLayers(defaults, layer), fromFlags.layer);
  problems.push(...fromFlags.problems, ...validate(configFields, merged));
  if (problems.length > 0) throw new ConfigError(sortProblems(problems, files));
  const unset = zeros.map(({ path, at }) => `${formatOrigin(at)}: ${path}: zero means the default`);
  return describeLoaded(
    merged,
    explain(merged, [defaults, ...layers, fromFlags.layer]),
    [...warnings, ...unset, ...inertWarnings(configFields, merged)],
    files,
  );
}

/** A configuration without problems, with everything that can be said of it. */
export function describeLoaded(
  merged: LocatedMap,
  provenance: readonly Provenance[],
  warnings: readonly string[],
  files: readonly string[],
): LoadedConfig {
  const computed = computeEffective(merged);
  return {
    config: computed.config,
    warnings: [...warnings, ...computed.warnings],
    origins: originsOf(merged),
    files,
    provenance,
    printable: toPrintable(merged),
    merged,
  };
}

function originsOf(merged: LocatedMap): ReadonlyMap<string, string> {
  const fields = [...locationsOf(merged)].filter(([path]) => path !== 'apiVersion' && path !== 'kind');
  return new Map(fields.map(([path, location]) => [path, formatOrigin(location.key)]));
}

export type { EffectiveConfig } from './effective.ts';
export type { FlagValues } from './flags.ts';
export { type ConfigSources, type LoadedConfig, loadConfig } from './load.ts';
export type { Origin } from './located.ts';
export { ConfigError, type Problem } from './problems.ts';
export { configApiVersion, configKind } from './schema.ts';

export type { EffectiveConfig } from './effective.ts';
export type { FlagValues } from './flags.ts';
export { createLiveConfig, type LiveConfig, type Reloaded } from './live.ts';
export { type ConfigSources, type LoadedConfig, loadConfig } from './load.ts';
export type { Origin } from './located.ts';
export { ConfigError, type Problem } from './problems.ts';
export { type OriginRow, originTable } from './provenance.ts';
export { configApiVersion, configKind } from './schema.ts';
export type { ShownConfig } from './shown.ts';

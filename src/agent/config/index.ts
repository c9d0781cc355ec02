export type { EffectiveConfig } from './effective.ts';
export type { FlagValues } from './flags.ts';
export { LiveConfig, type Reloaded } from './live.ts';
export { type ConfigSources, type LoadedConfig, loadConfig } from './load.ts';
export type { PodSettings, UrlPodSettings } from './pod-fields.ts';
export { ConfigError } from './problems.ts';
export { type OriginRow, originTable } from './view.ts';

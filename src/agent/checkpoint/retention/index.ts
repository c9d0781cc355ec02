/** What is kept of old checkpoints, and what goes (docs/checkpoints.md). */
export { createKeeper, type Keeper, type RetentionOutcome } from './keeper.ts';
export type { Removal } from './plan.ts';
export {
  type RetentionLimits,
  type RetentionScope,
  type RetentionSettings,
  retentionScopes,
} from './settings.ts';

/** Which old checkpoints are kept, and which are removed (docs/checkpoints.md). */
export { Keeper, type RetentionOutcome } from './keeper.ts';
export type { Removal } from './plan.ts';
export {
  type RetentionLimits,
  type RetentionSettings,
  retentionScopes,
} from './settings.ts';

export { pairs, sameValue } from './differences.ts';
export { migrate } from './migrate.ts';
export { SqliteTarget } from './sqlite-target.ts';
export {
  type LastPart,
  leap,
  type Migrated,
  type MigrationSource,
  type MigrationTarget,
  type Progress,
  type Reading,
  type SourceHold,
} from './types.ts';
export { verify } from './verify.ts';

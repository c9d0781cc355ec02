import type { OpenStore } from './scenario.ts';
import { changesSuite } from './suite-changes.ts';
import { closeSuite } from './suite-close.ts';
import { commitSuite } from './suite-commit.ts';
import { foreignKeysSuite } from './suite-foreign-keys.ts';
import { historySuite } from './suite-history.ts';

/** Everything that `Store` promises. Each backend runs it, and each with the cache in front. */
export function storeSuite(open: OpenStore): void {
  commitSuite(open);
  historySuite(open);
  changesSuite(open);
  foreignKeysSuite(open);
  closeSuite(open);
}

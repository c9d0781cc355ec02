import type { OpenCache } from './open-cache.ts';
import { cacheReadsSuite } from './suite-cache-reads.ts';
import { confirmSuite } from './suite-confirm.ts';
import { watchSuite } from './suite-watch.ts';
import { watchPropertySuite } from './suite-watch-property.ts';
import { watchSlowSuite } from './suite-watch-slow.ts';

/** Everything that `CachedStore` promises beyond `Store`. */
export function cacheSuite(open: OpenCache): void {
  cacheReadsSuite(open);
  confirmSuite(open);
  watchSuite(open);
  watchSlowSuite(open);
  watchPropertySuite(open);
}

/**
 * What it costs to watch over a fleet, without HTTP and store: `node bench/fleet-watch.ts`. One look at 5,000 nodes, and
 * what is done when one of their leases is written.
 */
import type { Node } from '../src/api/index.ts';
import { checkFleet } from '../src/apiserver/controllers/node-lifecycle/check-fleet.ts';
import { Fleet } from '../src/apiserver/controllers/node-lifecycle/fleet.ts';
import { isRenewal } from '../src/apiserver/controllers/node-lifecycle/renewals.ts';
import { withDefaults } from '../src/apiserver/controllers/node-lifecycle/settings.ts';
import { nodeTaints } from '../src/apiserver/controllers/node-lifecycle/taints.ts';
import { EvictionPace } from '../src/apiserver/controllers/node-lifecycle/zones.ts';
import { createLogger } from '../src/base/index.ts';
import { nodeBody } from './fleet-nodes.ts';
import { measure, printHead } from './harness.ts';

const count = 5000;
const settings = withDefaults({});
const fleet = new Fleet({ gracePeriodMs: 40_000, taints: nodeTaints('kubernetes.io'), now: () => 1000 });
for (let index = 0; index < count; index++) {
  const node: Node = JSON.parse(nodeBody(index, 0));
  fleet.observe(node.metadata?.name ?? '', node);
}
const pace = new EvictionPace(settings);
const log = createLogger({ level: 'silent', format: 'json', output: process.stderr });
const leaseAt = (second: string) => ({
  key: 'lease',
  revision: 1,
  createRevision: 1,
  value: Buffer.from(
    JSON.stringify({
      metadata: { name: 'node-00001', managedFields: 'x'.repeat(340) },
      spec: { holderIdentity: 'node-00001', renewTime: `2026-01-01T00:00:${second}.000000Z` },
    }),
  ),
});
const [before, after] = [leaseAt('10'), leaseAt('20')];

printHead();
await measure('watch over nodes', {
  'a look at 5,000': () => [...checkFleet({ fleet, pace, log }, 1000)].length,
  'a renewal': () => isRenewal(before, after) && fleet.recordHeartbeat('node-00001'),
});

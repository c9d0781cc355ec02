import type { Logger } from '../../../base/index.ts';
import type { Fleet } from './fleet.ts';
import type { EvictionPace } from './zones.ts';
import { isAllDown } from './zones.ts';

interface RoundParts {
  fleet: Fleet;
  pace: EvictionPace;
  log: Logger;
}

/** One look at all nodes: gives up whose turn it is, and names the nodes that something is to be written on. */
export function* lookAround({ fleet, pace, log }: RoundParts, nowMs: number): Generator<string> {
  const zones = fleet.zones();
  const allDown = isAllDown(zones);
  fleet.setAllDown(allDown);
  pace.update(zones, nowMs);
  for (const [zone, names] of allDown ? [] : fleet.waiting()) {
    for (const name of names.slice(0, pace.allowance(zone))) {
      fleet.giveUp(name);
      pace.take(zone);
      log.warn({ node: name }, 'a node is given up: pods that do not tolerate its taints are evicted');
    }
  }
  yield* fleet.unsettled();
}

import type { Logger } from '../../../base/index.ts';
import type { Components } from './components.ts';
import { isAllDown } from './zones.ts';

type CheckedParts = Pick<Components, 'fleet' | 'pace'> & { log: Logger };

/** Checks all nodes once: gives up as many as each zone allows, and yields the nodes that are to be written. */
export function* checkFleet({ fleet, pace, log }: CheckedParts, nowMs: number): Generator<string> {
  const zones = fleet.countZones();
  const allDown = isAllDown(zones);
  fleet.setAllDown(allDown);
  pace.update(zones, nowMs);
  for (const [zone, names] of allDown ? [] : fleet.listWaiting()) {
    for (const name of names.slice(0, pace.allowance(zone))) {
      fleet.giveUp(name);
      pace.take(zone);
      log.warn({ node: name }, 'a node is given up: pods that do not tolerate its taints are evicted');
    }
  }
  yield* fleet.listOutdated();
}

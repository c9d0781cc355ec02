import type { ObjectSelector } from '../../api/index.ts';
import {
  csiNodeKind,
  namespaceKind,
  persistentVolumeClaimKind,
  persistentVolumeKind,
  selectsLabels,
  serviceKind,
  storageClassKind,
} from '../../api/index.ts';
import type { Logger } from '../../base/index.ts';
import { ParsedObjects } from '../controllers/index.ts';
import type { Registry } from '../registry/index.ts';
import type { ClusterLookups } from './cluster/cluster-state.ts';
import type { VolumeLookup } from './volumes/lookup.ts';

/** As the log names who reads. */
export const schedulerReader = 'the scheduler';

/** What placing asks for beside nodes and pods, from the cache of the store. */
export function createLookups(
  registry: Registry,
  unschedulableTaint: string,
  chosen: Pick<VolumeLookup, 'chosenFor' | 'chosenNode'>,
  log: Logger,
): ClusterLookups {
  const claims = new ParsedObjects(registry, persistentVolumeClaimKind, log, schedulerReader);
  const volumes = new ParsedObjects(registry, persistentVolumeKind, log, schedulerReader);
  const classes = new ParsedObjects(registry, storageClassKind, log, schedulerReader);
  const csiNodes = new ParsedObjects(registry, csiNodeKind, log, schedulerReader);
  const namespaces = new ParsedObjects(registry, namespaceKind, log, schedulerReader);
  const services = new ParsedObjects(registry, serviceKind, log, schedulerReader);
  return {
    unschedulableTaint,
    volumes: {
      claim: (namespace, name) => claims.find(namespace, name),
      volume: (name) => volumes.find('', name),
      volumes: () => volumes.list(''),
      storageClass: (name) => classes.find('', name),
      csiNode: (name) => csiNodes.find('', name),
      ...chosen,
    },
    namespaceLabels: (name) => namespaces.find('', name)?.metadata?.labels ?? {},
    selectorsOf({ namespace, labels }) {
      const selectors = services.list(namespace).flatMap(({ spec }): ObjectSelector[] => {
        const { selector: matchLabels = {} } = spec ?? {};
        const isForIt = Object.keys(matchLabels).length > 0 && selectsLabels({ matchLabels }, labels);
        return isForIt ? [{ matchLabels }] : [];
      });
      return selectors.map((selector) => (others) => selectsLabels(selector, others));
    },
  };
}

import { matchesTerms } from '../../api/index.ts';
import { NodeVolumesInUse } from '../node/index.ts';
import type { NodeStorage, VolumeDrivers } from '../volumes/index.ts';
import type { PodParts } from './assemble-pods.ts';
import type { AgentContext } from './context.ts';
import type { NodeFacts } from './node-facts.ts';

/** What volumes that outlive pods need of this node and its API. */
export function createNodeStorage(
  { nodeName }: AgentContext,
  { onApi }: PodParts,
  facts: NodeFacts,
  drivers: VolumeDrivers,
): NodeStorage & { readonly inUse: NodeVolumesInUse } {
  return {
    nodeName,
    api: onApi?.api,
    drivers,
    inUse: new NodeVolumesInUse(),
    async matchesNode({ nodeSelectorTerms }) {
      const labels = (await facts.node())?.metadata?.labels ?? {};
      return matchesTerms(nodeSelectorTerms, { name: nodeName, labels });
    },
  };
}

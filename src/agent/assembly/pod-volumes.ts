import { matchesTerms } from '../../api/index.ts';
import type { EventRecorder } from '../node/events/index.ts';
import { podSubject } from '../node/events/index.ts';
import { NodeVolumesInUse } from '../node/index.ts';
import type { PodTimeline } from '../pods/explain/index.ts';
import type { PodRuntimeView } from '../pods/index.ts';
import type { Runtime } from '../runtime/index.ts';
import type { PodTokens } from '../tokens/index.ts';
import { ApiPodTokens, tokensWithoutApi } from '../tokens/index.ts';
import type { NodeStorage, VolumeDrivers } from '../volumes/index.ts';
import { findImageMountFault, PodVolumes } from '../volumes/index.ts';
import { hostIpsOf } from './assemble-executor.ts';
import type { ObjectParts, PodParts } from './assemble-pods.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';
import type { NodeFacts } from './node-facts.ts';

interface VolumeSources {
  readonly runtime: Runtime;
  readonly events: EventRecorder;
  readonly timeline: PodTimeline;
  readonly facts: NodeFacts;
  readonly storage: ReturnType<typeof createNodeStorage>;
  readonly objects: ObjectParts['objects'];
  readonly view: PodRuntimeView;
}

/** The volumes of this node's pods, with what they are filled from. */
export function createVolumes(
  context: AgentContext,
  pods: PodParts,
  { runtime, events, timeline, facts, storage, objects, view }: VolumeSources,
): PodVolumes {
  const { config, options, stack } = context;
  const volumes = new PodVolumes({
    storage,
    rootDir: options.rootDir,
    lookMs: config.pods.volumeLookMs,
    memoryBytes: () => facts.memoryForPods(),
    objects,
    tokens: createTokens(context, pods, timeline),
    downward: (pod) => ({
      podIps: view.pod(pod.metadata?.uid ?? '')?.sandboxes.at(0)?.ips ?? [],
      node: { hostIps: hostIpsOf(context), allocatable: facts.resources().allocatable },
    }),
    report: (pod, happening) => events.record(podSubject(pod), happening),
    reportClaim: ({ metadata: { uid = '', namespace = '', name = '' } = {} }, happening) =>
      events.record({ kind: 'PersistentVolumeClaim', uid, namespace, name }, happening),
    imageMountFault(isInParts) {
      const { name, version } = runtime.status();
      return findImageMountFault(name, version, isInParts);
    },
    supportsRecursiveReadOnly: () =>
      runtime.status().handlers?.some((handler) => handler.recursiveReadOnlyMounts) ?? false,
    ...part(context, 'volumes'),
  });
  stack.defer(() => volumes.close());
  return volumes;
}

/** Tokens of the API's service accounts; what becomes of them stands among what happened to the pod. */
function createTokens(context: AgentContext, { onApi }: PodParts, timeline: PodTimeline): PodTokens {
  if (onApi === undefined) return tokensWithoutApi;
  const onNotice = (podUid: string, message: string) => timeline.add(podUid, message);
  return new ApiPodTokens({ api: onApi.api, onNotice, ...part(context, 'tokens') });
}

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

import type { Pod } from '../../api/index.ts';
import type { EffectiveConfig } from '../config/index.ts';
import type { Pressures } from '../node/index.ts';
import type { AdmittingNode, Neighbour, NodeFeatures, Pressure } from '../pods/admission/index.ts';
import { admitPod } from '../pods/admission/index.ts';
import type { PodManagerOptions } from '../pods/worker/index.ts';
import type { Runtime } from '../runtime/index.ts';
import { readHostAppArmor } from '../seccomp/registry/index.ts';
import type { NodeFacts } from './node-facts.ts';

export interface AdmissionOptions {
  facts: NodeFacts;
  runtime: Runtime;
  nodeName: string;
  /** Of a Node that the agent creates. */
  labels: Readonly<Record<string, string>>;
  /** Without a control plane there is no Node. */
  isStandalone: boolean;
  /** What the node is short of. */
  pressures(): Pressures;
  isShuttingDown(): boolean;
  config(): EffectiveConfig;
}

type Admit = PodManagerOptions['admit'];

/** Decides by what the machine, its runtime and its Node are now; a refusal that rests on the Node is asked again with it read again. */
export function createAdmission(options: AdmissionOptions): Admit {
  const ask = async (pod: Pod, origin: Neighbour['origin'], others: readonly Neighbour[], isFresh: boolean) =>
    admitPod({
      ...{ pod, origin, others },
      node: await nodeOf(options, isFresh),
      features: await featuresOf(options.runtime),
      settings: { unsafeSysctls: options.config().pods.allowedUnsafeSysctls },
    });
  return async (pod, origin, others) => {
    const isUnknown = !options.isStandalone && origin === 'api' && (await options.facts.node()) === undefined;
    if (isUnknown) return undefined; // what its Node says is not known yet
    const first = await ask(pod, origin, others, false);
    const isOfNode = !first.admitted && first.retryWithFreshNode === true;
    const verdict = isOfNode ? await ask(pod, origin, others, true) : first;
    if (verdict.admitted) return { isAdmitted: true };
    const { reason, message, preempt } = verdict;
    return { isAdmitted: false, reason, message, ...(preempt === undefined ? {} : { preempt }) };
  };
}

async function nodeOf(options: AdmissionOptions, isFresh: boolean): Promise<AdmittingNode | undefined> {
  const { facts, nodeName, isStandalone } = options;
  const node = isStandalone ? undefined : await facts.node(isFresh);
  const { allocatable } = facts.resources();
  return {
    name: nodeName,
    labels: node?.metadata?.labels ?? ownLabels(options),
    taints: node?.spec?.taints ?? [],
    allocatable,
    pressures: namesOf(options.pressures()),
    isShuttingDown: options.isShuttingDown(),
  };
}

/** Of a Node that does not exist yet. */
function ownLabels({ nodeName, labels }: AdmissionOptions): Record<string, string> {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  return {
    ...labels,
    'kubernetes.io/hostname': nodeName,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': arch,
  };
}

/** In the order of the reference's message. */
function namesOf({ memory, disk, pid }: Pressures): Pressure[] {
  return [
    ...(memory === true ? (['MemoryPressure'] as const) : []),
    ...(disk === true ? (['DiskPressure'] as const) : []),
    ...(pid === true ? (['PIDPressure'] as const) : []),
  ];
}

async function featuresOf(runtime: Runtime): Promise<NodeFeatures> {
  const { handlers, supplementalGroupsPolicy } = runtime.status();
  return { supplementalGroupsPolicy, runtimeHandlers: handlers, appArmor: await readHostAppArmor() };
}

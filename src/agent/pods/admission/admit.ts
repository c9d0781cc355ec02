import type { Pod } from '../../../api/index.ts';
import { findsPortsTaken, matchesNode, qosClassOf, tolerates } from '../../../api/index.ts';
import {
  findAppArmorRefusal,
  findGroupsRefusal,
  findNodeRefusal,
  findOsRefusal,
  findRuntimeRefusal,
} from './features.ts';
import { isCritical } from './pod-class.ts';
import { chooseVictims } from './preempt.ts';
import type { Shortage } from './room.ts';
import { describeShortage, findShortages, missingOf } from './room.ts';
import { findSysctlRefusal } from './sysctls.ts';
import type { Admission, AdmissionInput, AdmittingNode, Refusal, RefusedAdmission } from './types.ts';

/**
 * Decides whether a pod may run on this node, in the order of the reference: pressure, kernel parameters, what the machine
 * cannot do, and at last the node's room and rules. Reasons and messages are the reference's.
 */
export function admitPod(input: AdmissionInput): Admission {
  const { pod, node, features, settings } = input;
  const refusal =
    (node && findPressureRefusal(input, node)) ??
    findSysctlRefusal(pod, settings.unsafeSysctls) ??
    findNodeRefusal(node) ??
    findOsRefusal(pod) ??
    findGroupsRefusal(pod, features) ??
    findAppArmorRefusal(pod, features) ??
    findRuntimeRefusal(input);
  if (refusal !== undefined) return refuse(refusal);
  return node === undefined ? { admitted: true } : admitByNode(input, node);
}

/** Oldest first, so that after a restart those that were there before keep their place. */
export function compareForAdmission(a: Pod, b: Pod): number {
  const madeAt = ({ metadata }: Pod) => Date.parse(metadata?.creationTimestamp ?? '') || 0;
  const nameOf = ({ metadata }: Pod) => `${metadata?.namespace}/${metadata?.name}`;
  return madeAt(a) - madeAt(b) || (nameOf(a) < nameOf(b) ? -1 : 1);
}

function refuse({ reason, message }: Refusal): RefusedAdmission {
  return { admitted: false, reason, message, statusMessage: `Pod was rejected: ${message}` };
}

/** Under pressure of memory alone only pods that request nothing are refused, unless they tolerate it; critical ones never. */
function findPressureRefusal({ pod, origin }: AdmissionInput, node: AdmittingNode): Refusal | undefined {
  const { pressures } = node;
  if (pressures.length === 0 || isCritical(pod, origin)) return undefined;
  const isMemoryAlone = pressures.every((pressure) => pressure === 'MemoryPressure');
  const mayStay = qosClassOf(pod) !== 'BestEffort' || tolerates(pod, memoryPressureTaint);
  if (isMemoryAlone && mayStay) return undefined;
  return { reason: 'Evicted', message: `The node had condition: [${pressures.join(' ')}]. ` };
}

const memoryPressureTaint = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' };

const affinityName = 'NodeAffinity';

function admitByNode(input: AdmissionInput, node: AdmittingNode): Admission {
  const { pod, origin, others } = input;
  const shortages = findShortages(
    pod,
    others.map((other) => other.pod),
    node,
  );
  const broken = findBrokenRules(input, node);
  if (isCritical(pod, origin)) {
    if (broken[0] !== undefined) return refuseByRules(broken, shortages.length);
    return shortages.length === 0 ? { admitted: true } : makeRoom(input, shortages);
  }
  const [shortage] = shortages;
  if (shortage !== undefined) return refuse(describeShortage(shortage));
  return broken.length === 0 ? { admitted: true } : refuseByRules(broken, shortages.length);
}

function refuseByRules(broken: readonly Rule[], shortageCount: number): RefusedAdmission {
  const refused = refuse(describeRule(broken[0] ?? rules.affinity));
  const isAffinityAlone = shortageCount === 0 && broken.every(({ name }) => name === affinityName);
  return isAffinityAlone ? { ...refused, retryWithFreshNode: true } : refused;
}

interface Rule {
  readonly name: string;
  readonly text: string;
}

const rules = {
  affinity: { name: affinityName, text: "node(s) didn't match Pod's node affinity/selector" },
  nodeName: { name: 'NodeName', text: "node(s) didn't match the requested node name" },
  ports: { name: 'NodePorts', text: "node(s) didn't have free ports for the requested pod ports" },
  taints: { name: 'TaintToleration', text: "node(s) had taints that the pod didn't tolerate" },
} as const satisfies Record<string, Rule>;

function describeRule({ name, text }: Rule): Refusal {
  return { reason: name, message: `Predicate ${name} failed: ${text}` };
}

function findBrokenRules({ pod, origin, others }: AdmissionInput, node: AdmittingNode): Rule[] {
  const nodeName = pod.spec?.nodeName || node.name;
  const arePortsTaken = findsPortsTaken(
    pod,
    others.map((other) => other.pod),
  );
  const isTainted =
    origin === 'api' && node.taints.some((taint) => taint.effect === 'NoExecute' && !tolerates(pod, taint));
  return [
    ...(matchesNode(pod, node) ? [] : [rules.affinity]),
    ...(nodeName === node.name ? [] : [rules.nodeName]),
    ...(arePortsTaken ? [rules.ports] : []),
    ...(isTainted ? [rules.taints] : []),
  ];
}

/** For a critical pod: others end instead of it, if that helps. */
function makeRoom({ pod, origin, others }: AdmissionInput, shortages: readonly Shortage[]): RefusedAdmission {
  const missing = new Map(shortages.map((each): [string, bigint] => [each.resource, missingOf(each)]));
  const choice = chooseVictims({ pod, origin }, others, missing);
  if ('victims' in choice) {
    const [shortage] = shortages;
    const why = shortage === undefined ? { reason: '', message: '' } : describeShortage(shortage);
    return { ...refuse(why), preempt: choice.victims };
  }
  const why = `preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: ${choice.unmet}`;
  return refuse({
    reason: 'UnexpectedAdmissionError',
    message: `Unexpected error while attempting to recover from admission failure: ${why}`,
  });
}

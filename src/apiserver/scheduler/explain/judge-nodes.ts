import { EventLoopYielder } from '../../../base/index.ts';
import type { NodeState } from '../cluster/node-state.ts';
import type { PendingPod } from '../cluster/pod-facts.ts';
import { describeRefusal, describeVerdicts, noNodes } from '../describe.ts';
import type { FilterRun, Verdict } from '../filters/index.ts';
import type { Rules } from '../place-pod.ts';
import { beginRules, checkNode, isExcluded } from '../place-pod.ts';
import type { Victims, World } from '../preemption.ts';
import { compareVictims, findVictims } from '../preemption.ts';

/** Nodes that are refused for the same reason. */
export interface RefusedNodes {
  /** The filter, as the reference names it. */
  readonly filter: string;
  readonly message: string;
  readonly names: string[];
}

export interface Judgement {
  readonly nodeCount: number;
  readonly fits: readonly string[];
  /** The most nodes first. */
  readonly refused: readonly RefusedNodes[];
  /** Where it would fit if these pods ended, the cheapest first. */
  readonly preemptions: readonly Victims[];
  /** All of `refused` in one line, as the condition of a pod has it. */
  readonly summary: string;
}

/** So many nodes are examined for whom a pod could end there: each costs as much as placing a pod. */
const maxExamined = 1000;

/** Asks every node why a pod cannot run there, yielding to other work; what changes meanwhile may count or not. */
export async function judgeNodes(pod: PendingPod, world: World): Promise<Judgement> {
  const { nodes } = world.cluster;
  const nodeCount = nodes.length;
  const begun = beginRules(pod, world.cluster);
  if ('refusal' in begun) {
    const { filter, refusal: message } = begun;
    const refused = nodeCount === 0 ? [] : [{ filter, message, names: nodes.map(({ name }) => name) }];
    const summary = nodeCount === 0 ? noNodes : describeRefusal(message, nodeCount);
    return { nodeCount, fits: [], refused, preemptions: [], summary };
  }
  const { fits, groups, verdicts } = await askEach(pod, nodes, begun, world);
  const examined = nodes.filter(({ name }) => verdicts.get(name)?.isFinal === false).slice(0, maxExamined);
  return {
    ...{ nodeCount, fits },
    refused: groups.sort((a, b) => b.names.length - a.names.length),
    preemptions: fits.length > 0 ? [] : await findAllVictims(pod, examined, begun.rules, world),
    summary: nodeCount === 0 ? noNodes : describeVerdicts(verdicts.values(), nodeCount),
  };
}

async function askEach(pod: PendingPod, nodes: readonly NodeState[], begun: Rules, world: World) {
  const fits: string[] = [];
  const groups = new Map<string, RefusedNodes>();
  const verdicts = new Map<string, Verdict>();
  const yielder = new EventLoopYielder();
  for (const node of nodes) {
    if (yielder.isDue) await yielder.yield();
    const found = whyNot(pod, node, begun, world);
    if (found === undefined) {
      fits.push(node.name);
      continue;
    }
    verdicts.set(node.name, found.verdict);
    const key = `${found.filter} ${found.message}`;
    const group = groups.get(key) ?? { filter: found.filter, message: found.message, names: [] };
    groups.set(key, group);
    group.names.push(node.name);
  }
  return { fits, groups: [...groups.values()], verdicts };
}

/** The first rule that the node breaks, by name. */
function whyNot(pod: PendingPod, node: NodeState, { rules, filters, only }: Rules, { nominations }: World) {
  const excluded = isExcluded(only, node.name);
  if (excluded !== undefined)
    return { verdict: excluded, filter: 'NodeAffinity', message: excluded.reasons.join(', ') };
  const verdict = checkNode(pod, node, rules, nominations);
  if (verdict === undefined) return undefined;
  const message = verdict.reasons.join(', ');
  const broken = rules.findIndex((rule) => rule.check(node) !== undefined);
  if (broken >= 0) return { verdict, filter: filters[broken] ?? '', message };
  return { verdict, filter: '', message: `${message}, with the pods that room is kept for` };
}

async function findAllVictims(
  pod: PendingPod,
  nodes: readonly NodeState[],
  rules: readonly FilterRun[],
  world: World,
): Promise<readonly Victims[]> {
  const yielder = new EventLoopYielder();
  const found: Victims[] = [];
  for (const node of nodes) {
    if (yielder.isDue) await yielder.yield();
    const victims = findVictims(pod, node, rules, world);
    if ('pods' in victims) found.push(victims);
  }
  return found.sort(compareVictims);
}

import { NodeState } from './cluster/node-state.ts';
import type { PodFacts } from './cluster/pod-facts.ts';
import type { FilterRun, Verdict } from './filters/index.ts';

/** A node as it would be with other pods on it, and the rules of a pod as they would then count. */
export class WhatIf {
  readonly node: NodeState;
  readonly #rules: readonly FilterRun[];

  constructor({ facts, pods }: NodeState, rules: readonly FilterRun[]) {
    this.node = new NodeState(facts, pods.values());
    this.#rules = rules.map((rule) => rule.copy?.() ?? rule);
  }

  add(pod: PodFacts): void {
    this.node.add(pod);
    for (const rule of this.#rules) rule.count?.(pod, this.node, 1);
  }

  remove(pod: PodFacts): void {
    this.node.remove(pod.key);
    for (const rule of this.#rules) rule.count?.(pod, this.node, -1);
  }

  /** The first rule that it would break. */
  check(): Verdict | undefined {
    return firstBroken(this.node, this.#rules);
  }
}

export function firstBroken(node: NodeState, rules: readonly FilterRun[]): Verdict | undefined {
  for (const rule of rules) {
    const wrong = rule.check(node);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

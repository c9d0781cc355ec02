/** A simulated API with nodes and pods that come, change and go, and a scheduler whose decisions it carries out, late or not at all. */
import assert from 'node:assert/strict';
import type { Node, Pod } from '../../../../src/api/index.ts';
import type { Decision } from '../../../../src/apiserver/scheduler/scheduler.ts';
import { Scheduler } from '../../../../src/apiserver/scheduler/scheduler.ts';
import { pick } from '../../../support/random-pods.ts';
import type { Random } from '../../../support/repetition.ts';
import { below } from '../../../support/repetition.ts';
import { makeLookups, makeNode, makePod } from './cluster.ts';

/** A pod of the simulated API, with what a naive check needs. */
export interface ModelPod {
  pod: Pod;
  readonly key: string;
  readonly uid: string;
  readonly cpu: number;
  readonly port: number;
  readonly zone: string;
  readonly isAlone: boolean;
  readonly priority: number;
  node: string | undefined;
  isLeaving: boolean;
}

interface ModelNode {
  node: Node;
  readonly cpu: number;
  readonly zone: string;
  isCordoned: boolean;
}

type Assigned = Extract<Decision, { node: string }>;
type Preemption = Extract<Decision, { message: string }> & { readonly since: number };

/** Every node takes so many pods. */
const podLimit = 6;

export class ModelWorld {
  readonly pods = new Map<string, ModelPod>();
  readonly nodes = new Map<string, ModelNode>();
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  #nowMs = 0;
  #count = 0;
  #isCalm = false;
  /** Decided, and not written yet. */
  #bindings: Assigned[] = [];
  #preemptions: Preemption[] = [];
  /** Where room is kept, by the uid of the pod. */
  readonly #nominated = new Map<string, string>();
  /** Who ends for a pod, by its uid. */
  readonly #victimsFor = new Map<string, readonly { readonly uid: string }[]>();
  /** Made since the world is calm. */
  readonly #calmPreemptions: Preemption[] = [];
  /** What happened on nodes, in order: placed or made room for. */
  readonly #arrivals: { readonly node: string; readonly priority: number; readonly uid: string }[] = [];
  readonly counts = { placed: 0, preempted: 0 };

  constructor(random: Random) {
    this.#random = random;
    const clock = { now: () => this.#nowMs, monotonicMs: () => this.#nowMs };
    this.#scheduler = new Scheduler({
      ...{ lookups: makeLookups(), name: 'default-scheduler', budgets: () => [], clock, random },
    });
    for (let index = 0; index < 1 + below(5, random); index++) this.#addNode(`n${index}`);
  }

  step(): void {
    this.#nowMs += 1000;
    if (!this.#isCalm) this.#act();
    this.#writeSome();
    if (this.#isCalm || this.#random() < 0.5) this.#scheduler.wakeWaiting();
    this.#decideAll();
  }

  /** From now on nothing fails, and nobody comes or goes but by decisions. */
  calm(): void {
    this.#isCalm = true;
    for (const [name, node] of this.nodes) this.#setCordon(name, node, false);
  }

  get isAtRest(): boolean {
    const isUnderWay = this.#bindings.length + this.#preemptions.length > 0;
    if (this.#scheduler.nextBackoffMs !== undefined) return false;
    return !isUnderWay && !this.#scheduler.isStale && [...this.pods.values()].every((pod) => !pod.isLeaving);
  }

  #act(): void {
    const dice = this.#random();
    if (dice < 0.55) this.#addPod();
    else if (dice < 0.75) this.#removeSomePod();
    else if (dice < 0.85) {
      const [name, node] = this.#some(this.nodes) ?? [];
      if (name !== undefined && node !== undefined) this.#setCordon(name, node, !node.isCordoned);
    } else if (dice < 0.9) this.#addNode(`n${below(6, this.#random)}`);
  }

  #addNode(name: string): void {
    if (this.nodes.has(name)) return;
    const cpu = 1 + below(6, this.#random);
    const zone = pick(this.#random, ['a', 'b']);
    const node = makeNode(name, {
      labels: { zone, host: name },
      has: { cpu: `${cpu}`, pods: `${podLimit}` },
    });
    this.nodes.set(name, { node, cpu, zone, isCordoned: false });
    this.#scheduler.nodeChanged(node);
  }

  #setCordon(name: string, node: ModelNode, isCordoned: boolean): void {
    node.isCordoned = isCordoned;
    node.node = {
      ...node.node,
      metadata: { ...node.node.metadata, name },
      spec: { unschedulable: isCordoned },
    };
    this.#scheduler.nodeChanged(node.node);
  }

  /** Names come again, with other uids. */
  #addPod(): void {
    const random = this.#random;
    const name = `p${below(40, random)}`;
    const key = `ns/${name}`;
    if (this.pods.has(key)) return;
    const uid = `uid-${this.#count++}`;
    const wish = { cpu: below(4, random), port: random() < 0.15 ? 80 : 0, zone: random() < 0.2 ? 'a' : '' };
    const isAlone = random() < 0.15;
    const priority = below(4, random);
    const made = makePod(name, {
      ...{ priority, labels: isAlone ? { alone: 'yes' } : {} },
      spec: {
        containers: [
          {
            name: 'c',
            image: 'i',
            resources: { requests: { cpu: `${wish.cpu}` } },
            ...(wish.port === 0 ? {} : { ports: [{ containerPort: 80, hostPort: wish.port }] }),
          },
        ],
        ...(wish.zone === '' ? {} : { nodeSelector: { zone: wish.zone } }),
        ...(isAlone
          ? {
              affinity: {
                podAntiAffinity: {
                  requiredDuringSchedulingIgnoredDuringExecution: [
                    { topologyKey: 'host', labelSelector: { matchLabels: { alone: 'yes' } } },
                  ],
                },
              },
            }
          : {}),
      },
    });
    const pod: Pod = { ...made, metadata: { ...made.metadata, uid } };
    this.pods.set(key, {
      ...{ pod, key, uid, ...wish, isAlone, priority },
      node: undefined,
      isLeaving: false,
    });
    this.#scheduler.podChanged(pod);
  }

  #removeSomePod(): void {
    const [, pod] = this.#some(this.pods) ?? [];
    if (pod !== undefined) this.#remove(pod);
  }

  #remove(pod: ModelPod): void {
    this.pods.delete(pod.key);
    this.#nominated.delete(pod.uid);
    this.#scheduler.podGone(pod.key);
  }

  #some<T>(map: ReadonlyMap<string, T>): [string, T] | undefined {
    return [...map][below(map.size, this.#random)];
  }

  #isDue = () => this.#isCalm || this.#random() < 0.5;

  #writeSome(): void {
    const [due, later] = divide(this.#bindings, this.#isDue);
    this.#bindings = later;
    for (const binding of due) this.#bind(binding);
    const [ending, waiting] = divide(this.#preemptions, this.#isDue);
    this.#preemptions = waiting;
    for (const preemption of ending) this.#endVictims(preemption);
    for (const pod of this.pods.values()) if (pod.isLeaving && this.#isDue()) this.#remove(pod);
  }

  #bind(binding: Assigned): void {
    const { pod, node } = binding;
    const now = this.#now(pod);
    const hasFailed = now === undefined || now.isLeaving || (!this.#isCalm && this.#random() < 0.1);
    if (hasFailed) {
      this.#scheduler.bindingFailed(binding, now?.pod);
      return;
    }
    assert.equal(now.node, undefined, `${now.key} is given a second node`);
    now.node = node;
    this.#write(now, { ...now.pod, spec: { containers: [], ...now.pod.spec, nodeName: node } });
    this.counts.placed++;
  }

  /** As the service does: not for a pod that is gone or has a node by now. A victim is seen once before its deletion. */
  #endVictims({ pod, victims }: Preemption): void {
    const preemptor = this.#now(pod);
    for (const victim of victims?.pods ?? []) {
      const now = this.#now(victim);
      if (preemptor === undefined || preemptor.node !== undefined) {
        this.#scheduler.spare(victim, pod);
        continue;
      }
      if (now === undefined || now.isLeaving) continue;
      this.#write(now, { ...now.pod, status: { ...now.pod.status, message: 'ending' } });
      if (!this.#isCalm) this.#decideAll();
      now.isLeaving = true;
      const deletionTimestamp = '2026-01-01T00:00:00Z';
      this.#write(now, { ...now.pod, metadata: { ...now.pod.metadata, deletionTimestamp } });
      this.counts.preempted++;
    }
  }

  #write(now: ModelPod, pod: Pod): void {
    now.pod = pod;
    this.#scheduler.podChanged(pod);
  }

  #now({ key, uid }: { readonly key: string; readonly uid: string }): ModelPod | undefined {
    const pod = this.pods.get(key);
    return pod?.uid === uid ? pod : undefined;
  }

  #decideAll(): void {
    for (
      let decision = this.#scheduler.decide();
      decision !== undefined;
      decision = this.#scheduler.decide()
    ) {
      const pod = this.#now(decision.pod);
      assert.ok(pod !== undefined, `${decision.pod.key} is gone, and is decided`);
      if ('node' in decision) this.#assigned(pod, decision);
      else this.#failed(pod, decision);
    }
  }

  #assigned(pod: ModelPod, decision: Assigned): void {
    assert.equal(pod.node, undefined, `${pod.key} has a node already`);
    const { node } = decision;
    const others = this.#on(node).filter(({ uid }) => uid !== pod.uid);
    const coming = [...this.pods.values()].filter(
      (each) =>
        this.#nominated.get(each.uid) === node && each.priority >= pod.priority && each.uid !== pod.uid,
    );
    assert.equal(this.#whyNot(pod, node, others), undefined, `${pod.key} does not fit on ${node}`);
    const isKept = pod.cpu > 0 && cpuOf([pod, ...others, ...coming]) > this.#cpu(node);
    assert.ok(!isKept, `${pod.key} takes room on ${node} that is kept`);
    this.#nominated.delete(pod.uid);
    this.#bindings.push(decision);
    this.#arrivals.push({ node, priority: pod.priority, uid: pod.uid });
  }

  #failed(pod: ModelPod, decision: Extract<Decision, { message: string }>): void {
    const { victims, nominatedNode } = decision;
    if (nominatedNode === undefined) this.#nominated.delete(pod.uid);
    if (victims === undefined) return;
    const node = victims.node.name;
    for (const victim of victims.pods)
      assert.ok(victim.priority < pod.priority, `${victim.key} is as important`);
    this.#assertDoesNotWait(pod);
    this.#victimsFor.set(pod.uid, victims.pods);
    const gone = new Set(victims.pods.map(({ uid }) => uid));
    const staying = this.#on(node).filter(({ uid }) => !gone.has(uid));
    assert.equal(this.#whyNot(pod, node, staying), undefined, `${pod.key} would not fit on ${node}`);
    for (const each of this.pods.values())
      if (this.#nominated.get(each.uid) === node && each.priority < pod.priority)
        this.#nominated.delete(each.uid);
    this.#nominated.set(pod.uid, node);
    this.#arrivals.push({ node, priority: pod.priority, uid: pod.uid });
    const preemption = { ...decision, since: this.#arrivals.length };
    // the service replaces an older one of the same pod, and spares its victims
    const [older, others] = divide(this.#preemptions, (each) => each.pod.uid === pod.uid);
    for (const victim of older.flatMap((each) => each.victims?.pods ?? []))
      if (!gone.has(victim.uid)) this.#scheduler.spare(victim, decision.pod);
    this.#preemptions = [...others, preemption];
    if (this.#isCalm) this.#calmPreemptions.push(preemption);
  }

  /** Nobody else ends for a pod for which pods are ending where it could still run. */
  #assertDoesNotWait({ key, uid }: ModelPod): void {
    const name = this.#nominated.get(uid) ?? '';
    if (this.nodes.get(name)?.isCordoned !== false) return;
    const there = new Set(this.#on(name).map((each) => each.uid));
    const ending = this.#victimsFor.get(uid)?.filter((victim) => there.has(victim.uid)) ?? [];
    assert.equal(ending.length, 0, `${key} waits for victims, and is given others`);
  }

  /** Pods on a node, and those that are being bound to it. */
  #on(node: string): ModelPod[] {
    const bound = [...this.pods.values()].filter((pod) => pod.node === node);
    const coming = this.#bindings
      .filter((each) => each.node === node)
      .flatMap(({ pod }) => this.#now(pod) ?? []);
    return [...bound, ...coming.filter((pod) => pod.node === undefined)];
  }

  #cpu(node: string): number {
    return this.nodes.get(node)?.cpu ?? 0;
  }

  /** A naive check of the rules that are in play here. */
  #whyNot(pod: ModelPod, name: string, others: readonly ModelPod[]): string | undefined {
    const node = this.nodes.get(name);
    if (node === undefined) return 'no such node';
    if (node.isCordoned) return 'cordoned';
    if (pod.zone !== '' && pod.zone !== node.zone) return 'zone';
    if (pod.cpu > 0 && cpuOf([pod, ...others]) > node.cpu) return 'cpu';
    if (others.length >= podLimit) return 'pods';
    if (pod.port > 0 && others.some(({ port }) => port === pod.port)) return 'port';
    return pod.isAlone && others.some(({ isAlone }) => isAlone) ? 'alone' : undefined;
  }

  /** At rest: all that have nodes fit there, nothing that waits would, and nobody has ended in vain. */
  assertSound(): void {
    for (const pod of this.pods.values()) {
      if (pod.node !== undefined) {
        const others = this.#on(pod.node).filter(({ uid }) => uid !== pod.uid);
        assert.equal(this.#whyNot(pod, pod.node, others), undefined, `${pod.key} is on ${pod.node}`);
        continue;
      }
      for (const name of this.nodes.keys())
        assert.notEqual(
          this.#whyNot(pod, name, this.#on(name)),
          undefined,
          `${pod.key} waits, and fits on ${name}`,
        );
    }
    for (const { pod, victims, since } of this.#calmPreemptions)
      this.#assertNotInVain(pod.key, pod.uid, victims?.node.name ?? '', since);
  }

  /** It has a node, or is gone, or a more important one came to where it was to go. */
  #assertNotInVain(key: string, uid: string, node: string, since: number): void {
    const now = this.#now({ key, uid });
    if (now === undefined || now.node !== undefined) return;
    const isOvertaken = this.#arrivals
      .slice(since)
      .some((each) => each.node === node && each.priority > now.priority);
    assert.ok(isOvertaken, `pods ended for ${key}, and it waits`);
  }
}

const cpuOf = (pods: readonly ModelPod[]) => pods.reduce((sum, { cpu }) => sum + cpu, 0);

function divide<T>(all: readonly T[], isFirst: (each: T) => boolean): [T[], T[]] {
  const [first, second]: [T[], T[]] = [[], []];
  for (const each of all) (isFirst(each) ? first : second).push(each);
  return [first, second];
}

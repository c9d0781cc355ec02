import assert from 'node:assert/strict';
import type { Deployment, DeploymentSpec, Pod } from '../../../../src/api/index.ts';
import { deploymentKind, podKind, replicaSetKind } from '../../../../src/api/index.ts';
import type { ControllerOptions } from '../../../../src/apiserver/controllers/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import type { Stored } from '../../../../src/apiserver/storage/index.ts';
import { limitsOf } from '../../../../src/apiserver/workloads/deployments/sets.ts';
import { workloadControllers } from '../../../../src/apiserver/workloads/index.ts';
import { controllerOf } from '../../../../src/apiserver/workloads/owned-objects.ts';
import { isActive, isAvailable, isReady } from '../../../../src/apiserver/workloads/pod-state.ts';
import { storeWith } from '../controllers/interleaved-store.ts';
import type { World } from './world.ts';
import { prepare, secondMs } from './world.ts';

export interface Random {
  below(limit: number): number;
}

const names = ['one', 'two'] as const;
type Name = (typeof names)[number];
const labelsOf = (name: string) => ({ app: name });
const foreign = {
  apiVersion: 'example.org/v1',
  kind: 'Other',
  name: 'other',
  uid: 'other',
  controller: true,
};

/** At which write of the controllers they are killed, and whether that one still lands. */
interface Kill {
  left: number;
  lands: boolean;
}

export async function liveOneStory(random: () => number) {
  const below = (limit: number) => Math.floor(random() * limit);
  await using story = new Story(await openWorld(), below);
  await story.begin();
  for (let step = 0; step < 25; step++) await story.step();
  await story.end();
  return story.counts;
}

/** A world whose controllers write through a store that can be cut off. */
async function openWorld() {
  const kill: { next: Kill | undefined; isDead: boolean } = { next: undefined, isDead: false };
  const world = await prepare((options) => workloadControllers(throughCut(options, kill)));
  return { world, kill };
}

function throughCut(
  options: ControllerOptions,
  kill: { next: Kill | undefined; isDead: boolean },
): ControllerOptions {
  const { storage, clock } = options;
  const cut = storeWith(storage, {
    async commit(write) {
      if (kill.isDead) throw new Error('the controllers are dead');
      const { next } = kill;
      if (next === undefined || next.left-- > 0) return await storage.commit(write);
      kill.isDead = true;
      if (next.lands) await storage.commit(write);
      throw new Error('the controllers are killed');
    },
  });
  const registry = createRegistry({ storage: cut, clock, groupSuffix: 'k8s.io', admission: [] });
  return { ...options, storage: cut, registry };
}

class Story implements AsyncDisposable {
  readonly #world: World;
  readonly #kill: Awaited<ReturnType<typeof openWorld>>['kill'];
  readonly #below: (limit: number) => number;
  /** The most pods that a Deployment could have since it last was at rest. */
  readonly #limits = new Map<Name, number>();
  /** Deployments whose pods may become fewer than they should: their size has changed, or their strategy. */
  readonly #unbound = new Set<Name>();
  readonly #problems: string[] = [];
  readonly counts = { pods: 0, kills: 0, rollouts: 0 };
  #madeSinceRest: Set<string> | undefined;
  #images = 0;
  #isAgentDeleting = false;

  constructor({ world, kill }: Awaited<ReturnType<typeof openWorld>>, below: (limit: number) => number) {
    this.#world = world;
    this.#kill = kill;
    this.#below = below;
    const pods = world.registry.of(podKind);
    pods.follow({
      added: (next) => this.#added(pods.encoding.read(next)),
      changed: (next, previous) => this.#changed(next, previous),
      gone: (previous) => this.#ended(pods.encoding.read(previous)),
    });
  }

  async begin(): Promise<void> {
    for (const name of names) await this.#world.create(deploymentKind, this.#draft(name));
    await this.#world.create(replicaSetKind, {
      metadata: { name: 'alone' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'alone' } },
        template: templateOf('alone', 'image'),
      },
    });
    // pods of others: one with the labels of a Deployment, one that nobody controls and nobody selects
    const { spec = { containers: [] } } = templateOf('one', 'image');
    const metadata = { name: 'others', labels: { app: 'alone' }, ownerReferences: [foreign] };
    await this.#world.create(podKind, { metadata, spec });
    await this.#world.create(podKind, { metadata: { name: 'stranger', labels: { app: 'none' } }, spec });
    await this.#world.start();
  }

  async step(): Promise<void> {
    await this.#pick([
      () => this.#scale(),
      () => this.#changeImage(),
      () => this.#changeImage(),
      () => this.#pause(),
      () => this.#changeLimits(),
      () => this.#workAgents(),
      () => this.#workAgents(),
      () => this.#workAgents(),
      () => this.#failPod(),
      () => this.#deletePod(),
      () => this.#relabelPod(),
      () => this.#planKill(),
      () => this.#planKill(),
      () => this.#world.clock.advance(this.#below(20) * secondMs),
    ]);
    await this.#rest();
    if (this.#kill.isDead) await this.#restart();
    assert.deepEqual(this.#problems, []);
  }

  /** No more trouble: everything becomes as it is wanted, then nothing is written any more. */
  async end(): Promise<void> {
    this.#kill.next = undefined;
    if (this.#kill.isDead) await this.#restart();
    for (const name of names)
      await this.#world.change(deploymentKind, name, (now) => withSpec(now, { paused: false }));
    await this.#rest();
    this.#madeSinceRest = new Set();
    for (let round = 0; !(await this.#isCalm()); round++) {
      assert.ok(round < 100, 'it comes to rest');
      await this.#workAgents(true);
      await this.#world.clock.advance(30 * secondMs);
    }
    assert.deepEqual(this.#problems, []);
    const before = this.#world.storage.applied;
    await this.#world.clock.advance(3600 * secondMs);
    assert.equal(this.#world.storage.applied, before, 'nothing is written while nothing changes');
    this.#assertWanted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#world[Symbol.asyncDispose]();
  }

  #assertWanted(): void {
    for (const name of names) {
      const { spec, status } = this.#world.get(deploymentKind, name);
      const pods = this.#podsOf(name);
      const image = spec?.template.spec?.containers?.[0]?.image;
      assert.equal(pods.length, spec?.replicas, `the pods of ${name}`);
      assert.ok(
        pods.every((pod) => imageOf(pod) === image && isReady(pod)),
        `all of ${name} are of ${image}`,
      );
      assert.equal(status?.availableReplicas ?? 0, spec?.replicas);
      assert.equal(status?.observedGeneration, this.#world.get(deploymentKind, name).metadata?.generation);
      const limit = spec?.revisionHistoryLimit ?? 0;
      const sets = this.#world.list(replicaSetKind).filter((set) => controllerOf(set)?.name === name);
      assert.ok(sets.length <= limit + 1, `${sets.length} revisions of ${name}`);
    }
    const alone = this.#world.pods().filter((pod) => isActive(pod) && controllerOf(pod)?.name === 'alone');
    assert.equal(alone.length, 2);
    assert.deepEqual(this.#world.get(podKind, 'others').metadata?.ownerReferences, [foreign]);
    assert.equal(controllerOf(this.#world.get(podKind, 'stranger')), undefined);
  }

  /** Its pods that stay; what was relabelled is not its any more. */
  #podsOf(name: string): Pod[] {
    const sets = this.#world.list(replicaSetKind).filter((set) => controllerOf(set)?.name === name);
    const uids = new Set(sets.map(({ metadata }) => metadata?.uid));
    return this.#world.pods().filter((pod) => isActive(pod) && uids.has(controllerOf(pod)?.uid));
  }

  #deploymentOf(pod: Pod): Name | undefined {
    return names.find((name) => controllerOf(pod)?.name.startsWith(`${name}-`));
  }

  #added(pod: Pod): void {
    if (controllerOf(pod)?.kind !== 'ReplicaSet') return;
    this.counts.pods += 1;
    this.#madeSinceRest?.add(pod.metadata?.uid ?? '');
    const name = this.#deploymentOf(pod);
    if (name === undefined) return;
    const count = this.#podsOf(name).length;
    const limit = Math.max(this.#limits.get(name) ?? 0, this.#maxOf(name));
    if (count > limit) this.#problems.push(`${name} has ${count} pods of at most ${limit}`);
  }

  #changed(next: Stored, previous: Stored): void {
    const { encoding } = this.#world.registry.of(podKind);
    const [now, before] = [encoding.read(next), encoding.read(previous)];
    if (isActive(before) && now.metadata?.deletionTimestamp !== undefined) this.#ended(before);
  }

  /** A controller, or the test, deletes a pod. */
  #ended(pod: Pod): void {
    if (this.#isAgentDeleting) return;
    const { uid = '' } = pod.metadata ?? {};
    if (this.#madeSinceRest?.has(uid))
      this.#problems.push(`${pod.metadata?.name} was made and deleted again`);
    const name = this.#deploymentOf(pod);
    if (name === undefined || this.#unbound.has(name) || !isActive(pod)) return;
    const deployment = this.#world.get(deploymentKind, name);
    const { minReadySeconds } = deployment.spec ?? {};
    const isUp = (each: Pod) => isAvailable(each, minReadySeconds, this.#world.clock.now());
    if (!isUp(pod)) return;
    const left = this.#podsOf(name).filter((each) => each.metadata?.uid !== uid && isUp(each)).length;
    const min = (deployment.spec?.replicas ?? 1) - limitsOf(deployment).maxUnavailable;
    const isRolling = deployment.spec?.strategy?.type !== 'Recreate';
    if (isRolling && left < min) this.#problems.push(`${name} has ${left} available pods of at least ${min}`);
  }

  #maxOf(name: Name): number {
    const deployment = this.#world.get(deploymentKind, name);
    return (deployment.spec?.replicas ?? 1) + limitsOf(deployment).maxSurge;
  }

  async #pick(actions: readonly (() => Promise<void>)[]): Promise<void> {
    await actions[this.#below(actions.length)]?.();
  }

  #oneOf<T>(items: readonly T[]): T | undefined {
    return items[this.#below(items.length)];
  }

  #name(): Name {
    return this.#oneOf(names) ?? 'one';
  }

  async #change(name: Name, change: Partial<DeploymentSpec>): Promise<void> {
    this.#limits.set(name, Math.max(this.#limits.get(name) ?? 0, this.#maxOf(name)));
    await this.#world.change(deploymentKind, name, (now) => withSpec(now, change));
    this.#limits.set(name, Math.max(this.#limits.get(name) ?? 0, this.#maxOf(name)));
  }

  async #scale(): Promise<void> {
    const name = this.#name();
    this.#unbound.add(name);
    await this.#change(name, { replicas: this.#below(7) });
  }

  async #changeLimits(): Promise<void> {
    const name = this.#name();
    this.#unbound.add(name);
    await this.#change(name, { strategy: this.#strategy(), minReadySeconds: this.#below(3) * 5 });
  }

  async #changeImage(): Promise<void> {
    const name = this.#name();
    const isBack = this.#below(4) === 0 && this.#images > 0;
    const image = `image-${isBack ? this.#below(this.#images) : this.#images++}`;
    this.counts.rollouts += 1;
    await this.#change(name, { template: templateOf(name, image) });
  }

  async #pause(): Promise<void> {
    await this.#change(this.#name(), { paused: this.#below(2) === 0 });
  }

  async #workAgents(areAllGood = false): Promise<void> {
    for (const pod of this.#world.pods()) {
      const { name = '', deletionTimestamp } = pod.metadata ?? {};
      if (!areAllGood && this.#below(3) === 0) continue;
      if (deletionTimestamp !== undefined) await this.#finish(name);
      else if (!isReady(pod) && isActive(pod)) await this.#world.report(name, 'Running');
    }
  }

  async #finish(name: string): Promise<void> {
    this.#isAgentDeleting = true;
    await this.#world.registry.of(podKind).delete('ns', name, { gracePeriodSeconds: 0 }, this.#world.context);
    this.#isAgentDeleting = false;
    await this.#world.clock.advance(0);
  }

  async #failPod(): Promise<void> {
    const pod = this.#oneOf(this.#world.pods().filter(isActive));
    const phase = this.#oneOf(['Failed', 'Running', 'Pending']) ?? 'Failed';
    if (pod !== undefined) await this.#world.report(pod.metadata?.name ?? '', phase, false);
  }

  async #deletePod(): Promise<void> {
    const pod = this.#oneOf(this.#world.pods().filter((each) => controllerOf(each)?.kind === 'ReplicaSet'));
    if (pod === undefined) return;
    this.#isAgentDeleting = true;
    await this.#world.registry.of(podKind).delete('ns', pod.metadata?.name ?? '', {}, this.#world.context);
    this.#isAgentDeleting = false;
  }

  async #relabelPod(): Promise<void> {
    const pod = this.#oneOf(this.#world.pods().filter((each) => controllerOf(each)?.kind === 'ReplicaSet'));
    if (pod === undefined) return;
    const labels = { app: 'taken-out' };
    await this.#world.change(podKind, pod.metadata?.name ?? '', (now) => ({
      ...now,
      metadata: { ...now.metadata, labels },
    }));
  }

  async #planKill(): Promise<void> {
    this.#kill.next = { left: this.#below(6), lands: this.#below(2) === 0 };
  }

  async #restart(): Promise<void> {
    this.counts.kills += 1;
    await this.#world.stop();
    this.#kill.next = undefined;
    this.#kill.isDead = false;
    await this.#world.start();
    await this.#rest();
  }

  /** Until the controllers have done what there is to do now. */
  async #rest(): Promise<void> {
    for (let before = -1; before !== this.#world.storage.applied; ) {
      before = this.#world.storage.applied;
      await this.#world.clock.advance(0);
      await this.#world.clock.advance(0);
    }
    if (this.#kill.isDead) return;
    // what is to be deleted is deleted: from now on the present limits hold
    for (const name of names) {
      const wanted = this.#world
        .list(replicaSetKind)
        .filter((set) => controllerOf(set)?.name === name)
        .reduce((sum, { spec }) => sum + (spec?.replicas ?? 1), 0);
      if (wanted <= this.#maxOf(name)) this.#limits.set(name, this.#maxOf(name));
      this.#unbound.delete(name);
    }
  }

  async #isCalm(): Promise<boolean> {
    const before = this.#world.storage.applied;
    await this.#workAgents(true);
    await this.#world.clock.advance(60 * secondMs);
    return before === this.#world.storage.applied;
  }

  #draft(name: Name): Deployment {
    const spec = {
      ...{ replicas: 1 + this.#below(5), selector: { matchLabels: labelsOf(name) } },
      template: templateOf(name, 'first'),
      strategy: this.#strategy(),
      revisionHistoryLimit: this.#below(3),
    };
    return { metadata: { name }, spec };
  }

  #strategy(): NonNullable<DeploymentSpec['strategy']> {
    if (this.#below(5) === 0) return { type: 'Recreate' };
    const [maxSurge, maxUnavailable] = [this.#below(3), this.#below(3)];
    const rollingUpdate = { maxSurge: maxSurge + maxUnavailable === 0 ? '25%' : maxSurge, maxUnavailable };
    return { type: 'RollingUpdate', rollingUpdate };
  }
}

function templateOf(name: string, image: string): DeploymentSpec['template'] {
  return {
    metadata: { labels: labelsOf(name) },
    spec: { containers: [{ name: 'main', image }], nodeName: 'node' },
  };
}

function withSpec(now: Deployment, change: Partial<DeploymentSpec>): Deployment {
  return { ...now, ...(now.spec && { spec: { ...now.spec, ...change } }) };
}

function imageOf({ spec }: Pod): string | undefined {
  return spec?.containers?.[0]?.image;
}

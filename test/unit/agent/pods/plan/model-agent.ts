import { containerHash } from '../../../../../src/agent/containers/index.ts';
import type {
  Plan,
  PlanInput,
  PodFailure,
  PodRecord,
  ProbeResults,
  StartStep,
  Step,
} from '../../../../../src/agent/pods/plan/index.ts';
import {
  planPod,
  stepKey,
  withBegun,
  withObserved,
  withStartFailure,
} from '../../../../../src/agent/pods/plan/index.ts';
import type { ContainerConfig, SandboxConfig } from '../../../../../src/agent/runtime/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import type { SimulatedRuntime } from '../../../../support/index.ts';
import type { ManualClock } from '../../../../support/manual-clock.ts';

/** What the world around the agent is like. */
export interface World {
  readonly pod: Pod;
  readonly clock: ManualClock;
  readonly runtime: SimulatedRuntime;
  images(name: string): PlanInput['images'] extends ReadonlyMap<string, infer State> ? State : never;
  volumes(): PlanInput['volumes'];
  probes(): ReadonlyMap<string, ProbeResults>;
  /** How long the hook after the start takes; undefined: it fails. */
  postStartMs(): number | undefined;
  /** Whether the agent dies here. */
  diesAt(point: 'beforeWrite' | 'afterWrite' | 'betweenCalls'): boolean;
  /** Notes what must not be. */
  complain(what: string): void;
  /** The restart count that a container is about to be started with. */
  expectRestartCount(name: string, restartCount: number): void;
}

class Killed extends Error {}

const callLimitMs = 120_000;
export const uid = 'model';

/** A small worker: it plans, carries out, and can be killed at any moment. Only `disk` outlives it. */
export class ModelAgent {
  readonly #world: World;
  readonly #disk: { record: PodRecord };
  readonly #life = new AbortController();
  readonly #underWay = new Set<Step>();
  readonly #stopFailures = new Map<string, PodFailure>();
  #sandboxFailure: PodFailure | undefined;
  #cleanupFailure: PodFailure | undefined;
  #isPrepared = false;

  constructor(world: World, disk: { record: PodRecord }) {
    this.#world = world;
    this.#disk = disk;
  }

  get isAlive(): boolean {
    return !this.#life.signal.aborted;
  }

  get isBusy(): boolean {
    return this.#underWay.size > 0;
  }

  kill(): void {
    this.#life.abort();
  }

  /** Looks, plans, and begins what the plan says. */
  tick(): Plan {
    const { runtime, complain } = this.#world;
    const view = runtime.podView(uid);
    this.#disk.record = withObserved(this.#disk.record, view);
    const plan = this.#plan(new Map());
    const images = new Map(
      plan.imagesWanted.map(({ container }) => [container, this.#world.images(container)]),
    );
    const final = this.#plan(images);
    if (JSON.stringify(final.imagesWanted) !== JSON.stringify(plan.imagesWanted)) {
      complain('the images that are wanted depend on the images that are there');
    }
    if (final.terminate !== undefined)
      this.#disk.record = { ...this.#disk.record, termination: final.terminate };
    for (const step of final.steps) this.#begin(step);
    return final;
  }

  #plan(images: PlanInput['images']): Plan {
    const { pod, clock, runtime } = this.#world;
    return planPod({
      pod,
      origin: 'api',
      view: runtime.podView(uid),
      record: this.#disk.record,
      underWay: [...this.#underWay],
      nowMs: clock.now(),
      isNetworkReady: true,
      networkMessage: '',
      isPrepared: this.#isPrepared,
      volumes: this.#world.volumes(),
      images,
      probes: this.#world.probes(),
      sandboxFailure: this.#sandboxFailure,
      cleanupFailure: this.#cleanupFailure,
      stopFailures: this.#stopFailures,
      settings: { maxRestartWaitMs: 20_000 },
    });
  }

  #begin(step: Step): void {
    if (!this.isAlive) return;
    const { complain } = this.#world;
    const ends = this.#disk.record.termination !== undefined;
    if (ends && (step.kind === 'start' || step.kind === 'runSandbox' || step.kind === 'prepare')) {
      complain(`${step.kind} is planned after termination began`);
    }
    const same = [...this.#underWay].filter((other) => stepKey(other) === stepKey(step));
    if (same.some(({ kind }) => kind !== 'stop')) complain(`${stepKey(step)} is planned twice`);
    this.#underWay.add(step);
    void this.#carryOut(step).finally(() => this.#underWay.delete(step));
  }

  async #carryOut(step: Step): Promise<void> {
    try {
      this.#dieAt('beforeWrite');
      this.#disk.record = withBegun(this.#disk.record, step, this.#world.runtime.podView(uid));
      this.#dieAt('afterWrite');
      await this.#do(step);
      if (!this.isAlive) return;
      this.#succeed(step);
    } catch (error) {
      if (!(error instanceof Killed) && this.isAlive) this.#fail(step, error);
    }
  }

  async #do(step: Step): Promise<void> {
    const { runtime, pod } = this.#world;
    const cancel = this.#cancel();
    switch (step.kind) {
      case 'prepare':
        return;
      case 'runSandbox': {
        for (const id of step.stopFirst ?? []) await runtime.stopSandbox(id, cancel);
        this.#dieAt('betweenCalls');
        if (this.#disk.record.termination === undefined)
          await runtime.runSandbox(sandboxConfig(pod, step.attempt), '', cancel);
        return;
      }
      case 'stopSandbox':
        return await runtime.stopSandbox(step.sandboxId, cancel);
      case 'removeSandbox':
        await runtime.stopSandbox(step.sandboxId, cancel);
        this.#dieAt('betweenCalls');
        return await runtime.removeSandbox(step.sandboxId, cancel);
      case 'start':
        return await this.#start(step, cancel);
      case 'stop':
        return await runtime.stopContainer(step.containerId, step.graceSeconds, cancel);
      case 'removeContainer':
        return await runtime.removeContainer(step.containerId, cancel);
      case 'release': {
        for (const id of step.stopFirst ?? []) await runtime.stopSandbox(id, cancel);
        this.#dieAt('betweenCalls');
        if (runtime.containers().some(({ state }) => state === 'running')) {
          this.#world.complain('volumes are released while something runs');
        }
      }
    }
  }

  async #start(step: StartStep, cancel: AbortSignal): Promise<void> {
    const { runtime, pod, clock, postStartMs, expectRestartCount } = this.#world;
    const config = containerConfig(pod, step);
    expectRestartCount(step.container, step.restartCount);
    const id = await failAs(
      'CreateContainerError',
      runtime.createContainer(step.sandboxId, config, {}, cancel),
    );
    this.#dieAt('betweenCalls');
    if (this.#disk.record.termination !== undefined) return;
    await failAs('RunContainerError', runtime.startContainer(id, cancel));
    this.#dieAt('betweenCalls');
    const hookMs = postStartMs();
    if (hookMs !== undefined) return await clock.sleep(hookMs, cancel);
    await runtime.stopContainer(id, 2, cancel);
    throw new StartError('PostStartHookError');
  }

  #succeed(step: Step): void {
    const { record } = this.#disk;
    if (step.kind === 'prepare') this.#isPrepared = true;
    if (step.kind === 'runSandbox') this.#sandboxFailure = undefined;
    if (step.kind === 'release') this.#disk.record = { ...record, isReleased: true };
    if (step.kind === 'release' || step.kind === 'removeContainer' || step.kind === 'removeSandbox') {
      this.#cleanupFailure = undefined;
    }
    this.#stopFailures.delete(stepKey(step));
  }

  #fail(step: Step, error: unknown): void {
    const atMs = this.#world.clock.now();
    const message = String(error);
    const failed = (before: PodFailure | undefined, reason: string): PodFailure => ({
      reason,
      message,
      atMs,
      count: (before?.count ?? 0) + 1,
    });
    if (step.kind === 'start') {
      const reason = error instanceof StartError ? error.message : 'RunContainerError';
      this.#disk.record = withStartFailure(this.#disk.record, step.container, { reason, message }, atMs);
    } else if (step.kind === 'runSandbox' || step.kind === 'prepare') {
      this.#sandboxFailure = failed(this.#sandboxFailure, 'FailedCreatePodSandBox');
    } else if (step.kind === 'stop' || step.kind === 'stopSandbox') {
      const key = stepKey(step);
      this.#stopFailures.set(key, failed(this.#stopFailures.get(key), 'FailedKillPod'));
    } else this.#cleanupFailure = failed(this.#cleanupFailure, 'FailedCleanup');
  }

  #dieAt(point: Parameters<World['diesAt']>[0]): void {
    if (this.isAlive && this.#world.diesAt(point)) this.kill();
    if (!this.isAlive) throw new Killed();
  }

  /** Ends the wait for a call after a while, and when the agent dies. */
  #cancel(): AbortSignal {
    const end = new AbortController();
    const abort = () => end.abort();
    this.#life.signal.addEventListener('abort', abort, { once: true });
    void this.#world.clock.sleep(callLimitMs, this.#life.signal).then(abort);
    return end.signal;
  }
}

class StartError extends Error {}

async function failAs<T>(reason: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch {
    throw new StartError(reason);
  }
}

function sandboxConfig({ metadata }: Pod, attempt: number): SandboxConfig {
  const labels = { 'io.kubernetes.pod.uid': uid };
  return { metadata: { name: metadata?.name ?? '', namespace: 'ns', uid, attempt }, labels };
}

function containerConfig(
  pod: Pod,
  { container, attempt, restartCount, imageId }: StartStep,
): ContainerConfig {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const spec = [...initContainers, ...containers, ...ephemeralContainers].find(
    ({ name }) => name === container,
  );
  return {
    metadata: { name: container, attempt },
    image: { image: imageId },
    labels: { 'io.kubernetes.pod.uid': uid },
    annotations: {
      'io.kubernetes.container.restartCount': String(restartCount),
      'io.kubernetes.container.hash': containerHash({ name: container, image: spec?.image ?? '' }),
    },
  };
}

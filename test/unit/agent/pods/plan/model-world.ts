import type { PlanInput, PodRecord, ProbeResults } from '../../../../../src/agent/pods/plan/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import type { SimulatedCall, SimulatedContainer } from '../../../../support/index.ts';
import { ContainerRuns } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import {
  calmBehaviour,
  exitCodes,
  pick,
  randomBehaviour,
  randomPodSpec,
} from '../../../../support/random-pods.ts';
import type { Random } from '../../../../support/repetition.ts';
import { randomFrom } from '../../../../support/repetition.ts';
import { SimulatedRuntime } from '../../../../support/simulated-runtime.ts';
import type { World } from './model-agent.ts';
import { ModelAgent, uid } from './model-agent.ts';

const failingCalls = [
  'runSandbox',
  'stopSandbox',
  'removeSandbox',
  'createContainer',
  'createContainer',
  'startContainer',
  'startContainer',
  'stopContainer',
  'removeContainer',
] as const satisfies SimulatedCall[];

/** A pod of any shape, with an agent and a runtime, in which everything goes wrong that can until it is calm. */
export class ModelWorld implements World {
  readonly clock = createManualClock();
  readonly runs = new ContainerRuns();
  readonly runtime: SimulatedRuntime;
  readonly disk: { record: PodRecord };
  pod: Pod;
  agent: ModelAgent;
  isCalm = false;
  readonly #random: Random;
  readonly #failedProbes = new Set<string>();
  #imagesAtMs = 0;
  #volumesAtMs = 0;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    this.pod = { metadata: { name: 'pod', namespace: 'ns', uid }, spec: randomPodSpec(this.#random) };
    this.runtime = new SimulatedRuntime({
      clock: this.clock,
      behaviours: ({ name }) => (this.isCalm ? calmBehaviour(name) : randomBehaviour(this.#random, name)),
    });
    this.disk = { record: { takenMs: this.clock.now(), isAdmitted: true, ips: [], containers: {} } };
    this.#imagesAtMs = this.clock.now() + this.#random() * 5000;
    this.#volumesAtMs = this.clock.now() + this.#random() * 5000;
    this.agent = new ModelAgent(this, this.disk);
  }

  /** One more moment: something may go wrong, the agent looks, and time passes. */
  async step(): Promise<ReturnType<ModelAgent['tick']>> {
    if (!this.isCalm) this.#goWrong();
    this.observe();
    if (!this.agent.isAlive) this.agent = new ModelAgent(this, this.disk);
    const plan = this.agent.tick();
    const waitMs = this.isCalm ? 1000 : pick(this.#random, [0, 0, 10, 500, 3000, 15_000] as const);
    await this.clock.advance(waitMs);
    this.observe();
    return plan;
  }

  /** From now on nothing goes wrong: what hangs goes on, what fails succeeds, processes do their work. */
  calm(): void {
    this.isCalm = true;
    this.runtime.clearFaults();
    this.#failedProbes.clear();
  }

  delete(graceSeconds: number): void {
    const metadata = { ...this.pod.metadata, deletionTimestamp: '2025-01-01T00:00:00Z' };
    this.pod = { ...this.pod, metadata: { ...metadata, deletionGracePeriodSeconds: graceSeconds } };
  }

  observe(): void {
    for (const { id, state, config } of this.runtime.containers()) {
      if (state === 'created') continue;
      this.runs.began(config.metadata?.name ?? '', id);
    }
  }

  expectRestartCount = (name: string, restartCount: number): void => {
    this.observe();
    this.runs.expectRestartCount(name, restartCount);
  };

  complain = (what: string): void => this.runs.complain(what);

  diesAt = (): boolean => !this.isCalm && this.#random() < 0.02;

  postStartMs = (): number | undefined => {
    if (this.isCalm) return 0;
    return pick(this.#random, [0, 0, 0, 0, 1000, undefined] as const);
  };

  images(): ReturnType<World['images']> {
    if (this.isCalm || this.clock.now() >= this.#imagesAtMs)
      return { state: 'present', id: 'sha256:1', user: {} };
    return { state: 'pulling', message: 'pulling' };
  }

  volumes(): PlanInput['volumes'] {
    const isReady = this.isCalm || this.clock.now() >= this.#volumesAtMs;
    return isReady ? { state: 'ready' } : { state: 'waiting', reason: '', message: 'soon' };
  }

  probes(): ReadonlyMap<string, ProbeResults> {
    const results = new Map<string, ProbeResults>();
    for (const { id, state, config, startedMs } of this.runtime.containers()) {
      if (state !== 'running') continue;
      const hasPassed = this.clock.now() - (startedMs ?? 0) >= 2000;
      const startup = hasPassed ? { startup: true } : {};
      const liveness = this.#failedProbes.has(id) ? { liveness: false, graceSeconds: 3 } : {};
      results.set(config.metadata?.name ?? '', { ...startup, ...liveness });
    }
    return results;
  }

  #goWrong(): void {
    const random = this.#random;
    const containers = this.runtime.containers().filter(({ state }) => state === 'running');
    const victim = containers[Math.floor(random() * containers.length)];
    const dice = random();
    const exitCode = pick(random, exitCodes);
    if (dice < 0.06 && victim)
      this.runtime.exit(victim.id, exitCode, random() < 0.2 ? 'OOMKilled' : undefined);
    else if (dice < 0.09) this.agent.kill();
    else if (dice < 0.18) this.#addFault();
    else if (dice < 0.195) this.#killSandbox();
    else if (dice < 0.2) this.runtime.reboot();
    else if (dice < 0.21 && victim) this.#failedProbes.add(victim.id);
    else if (dice < 0.215) this.#changeImage();
    else if (dice < 0.22 && victim && this.#isKnown(victim)) this.runtime.lose(victim.id);
    else if (dice < 0.28) this.runtime.clearFaults();
  }

  /** What nobody has seen before it was lost cannot be counted. */
  #isKnown({ config: { metadata } }: SimulatedContainer): boolean {
    const made = this.disk.record.containers[metadata?.name ?? '']?.made;
    return made?.attempt === metadata?.attempt;
  }

  #addFault(): void {
    const kind = pick(this.#random, ['before', 'after', 'after', 'hang', 'hangAfter'] as const);
    this.runtime.fault({
      call: pick(this.#random, failingCalls),
      kind,
      times: pick(this.#random, [1, 1, 3] as const),
    });
  }

  #killSandbox(): void {
    const [sandbox] = this.runtime.sandboxes().filter(({ isReady }) => isReady);
    if (sandbox !== undefined) this.runtime.killSandbox(sandbox.id);
  }

  #changeImage(): void {
    const containers = this.pod.spec?.containers ?? [];
    const [first, ...others] = containers;
    if (first === undefined || this.pod.spec === undefined) return;
    const image = first.image === 'app:1' ? 'app:2' : 'app:1';
    this.pod = { ...this.pod, spec: { ...this.pod.spec, containers: [{ ...first, image }, ...others] } };
  }
}

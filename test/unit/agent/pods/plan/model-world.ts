import type { PlanInput, PodRecord, ProbeResults } from '../../../../../src/agent/pods/plan/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import type { Behaviour, SimulatedCall, SimulatedContainer } from '../../../../support/index.ts';
import { SimulatedRuntime } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import type { Random } from '../../../../support/repetition.ts';
import { randomFrom } from '../../../../support/repetition.ts';
import type { World } from './model-agent.ts';
import { ModelAgent, uid } from './model-agent.ts';
import type { Container } from './support.ts';

const pick = <T>(random: Random, values: readonly [T, ...T[]]): T =>
  values[Math.floor(random() * values.length)] ?? values[0];

const exitCodes = [0, 0, 1, 2, 42, 137] as const;
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
  readonly complaints: string[] = [];
  readonly runtime: SimulatedRuntime;
  readonly disk: { record: PodRecord };
  pod: Pod;
  agent: ModelAgent;
  isCalm = false;
  readonly #random: Random;
  readonly #started = new Map<string, Set<string>>();
  readonly #failedProbes = new Set<string>();
  #imagesAtMs = 0;
  #volumesAtMs = 0;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    this.pod = randomPod(this.#random);
    this.runtime = new SimulatedRuntime({
      clock: this.clock,
      behaviours: (each) => this.#behaviour(each.name),
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
      const name = config.metadata?.name ?? '';
      this.#started.set(name, (this.#started.get(name) ?? new Set()).add(id));
    }
  }

  startedBefore = (name: string): number => {
    this.observe();
    return this.#started.get(name)?.size ?? 0;
  };

  complain = (what: string): void => {
    this.complaints.push(what);
  };

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

  #behaviour(name: string): Behaviour {
    const isInit = name.startsWith('init');
    if (this.isCalm) return isInit || name.startsWith('job') ? { exitAfterMs: 1000 } : {};
    const obeysAfterMs = pick(this.#random, [0, 0, 500, 'never'] as const);
    const isShort = isInit || this.#random() < 0.3;
    if (!isShort) return { obeysAfterMs };
    const startError = this.#random() < 0.03 ? { startError: 'no such command' } : {};
    return {
      exitAfterMs: this.#random() * 8000,
      exitCode: isInit && this.#random() < 0.7 ? 0 : pick(this.#random, exitCodes),
      obeysAfterMs,
      ...startError,
    };
  }
}

function randomPod(random: Random): Pod {
  const restartPolicy = pick(random, ['Always', 'OnFailure', 'Never'] as const);
  const inits = Array.from({ length: Math.floor(random() * 4) }, (_, index) => randomInit(random, index));
  const regular = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, index) =>
    randomContainer(random, restartPolicy !== 'Always' && random() < 0.7 ? `job${index}` : `web${index}`),
  );
  const ephemeral = random() < 0.2 ? [{ name: 'debug', image: 'app:1' }] : [];
  const deadline = random() < 0.05 ? { activeDeadlineSeconds: 60 } : {};
  return {
    metadata: { name: 'pod', namespace: 'ns', uid },
    spec: {
      restartPolicy,
      initContainers: inits,
      containers: regular,
      ephemeralContainers: ephemeral,
      terminationGracePeriodSeconds: 10,
      ...deadline,
    },
  };
}

function randomInit(random: Random, index: number): Container {
  if (random() < 0.5) {
    const { restartPolicy, ...init } = randomContainer(random, `init${index}`);
    return restartPolicy === undefined || restartPolicy === 'Always' ? init : { ...init, restartPolicy };
  }
  const probe = random() < 0.5 ? { startupProbe: {} } : {};
  return { ...probe, name: `side${index}`, image: 'app:1', restartPolicy: 'Always' };
}

function randomContainer(random: Random, name: string): Container {
  const dice = random();
  if (dice < 0.6) return { name, image: 'app:1' };
  const action = dice < 0.8 ? 'Restart' : 'RestartAllContainers';
  const operator = random() < 0.8 ? 'In' : 'NotIn';
  const values = operator === 'In' ? [42] : [0, 1, 2, 137, 143, 128, 255];
  const rules = [{ action, exitCodes: { operator, values } }];
  return {
    name,
    image: 'app:1',
    restartPolicy: pick(random, ['Always', 'OnFailure', 'Never'] as const),
    restartPolicyRules: rules,
  };
}

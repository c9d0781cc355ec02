import type { Pod } from '../../api/index.ts';
import type { Clock, Logger, Service } from '../../base/index.ts';
import { describeError, Listeners, noReason } from '../../base/index.ts';
import type { ProbeCommands } from './commands.ts';
import { withOutcome } from './machine.ts';
import type { ProbeMetrics } from './metrics.ts';
import { titleOf } from './metrics.ts';
import type { ContainerProbes, ProbedPod, ProbeLine, ProbeTarget, ProbeWait } from './probed-container.ts';
import { ProbedContainer } from './probed-container.ts';
import type { ProbeTools } from './run-probe.ts';
import { runProbe } from './run-probe.ts';
import { ProbeSchedule } from './schedule.ts';
import type { ProbeOutcome } from './types.ts';

/** Which containers are being checkpointed, by their ids. They stand still meanwhile: nothing that they do not answer counts. */
export interface FrozenContainers {
  has(containerId: string): boolean;
  /** Calls `listener` before a checkpoint of a container begins. */
  onBegin(listener: (containerId: string) => void): Disposable;
}

export interface ProberOptions extends Pick<ProbeTools, 'calls'> {
  readonly commands: ProbeCommands;
  readonly frozen: FrozenContainers;
  readonly metrics: ProbeMetrics;
  /** An Event about a container. */
  report(
    pod: Pod,
    happening: { readonly type: 'Warning'; readonly reason: string; readonly message: string },
    container: string,
  ): void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What of it pods are given. */
export interface PodProbes {
  /**
   * Probes these containers of the pod, from now on, and no others of it. Returns what the probes say of them, by name.
   */
  follow(owner: ProbedPod, targets: readonly ProbeTarget[]): ReadonlyMap<string, ContainerProbes>;
  /** Why containers of the pod that run are not started or ready, by name. */
  waitsOf(podUid: string): ReadonlyMap<string, ProbeWait>;
  forget(podUid: string): void;
  /** Calls `listener` with the uid of a pod of which a probe has another verdict. */
  onChange(listener: (podUid: string) => void): Disposable;
}

/** How soon after a checkpoint of its container a probe is tried that was due meanwhile. */
const afterCheckpointMs = 1000;
const none: ReadonlyMap<string, ContainerProbes> = new Map();

/** Runs the probes of the node's containers, each at its own time; see machine.ts for what follows from them. */
export class Prober implements PodProbes {
  readonly #options: ProberOptions;
  /** By pod uid, then by container name. */
  readonly #pods = new Map<string, Map<string, ProbedContainer>>();
  readonly #schedule: ProbeSchedule<ProbeLine>;
  readonly #listeners: Listeners<[podUid: string]>;

  constructor(options: ProberOptions) {
    this.#options = options;
    this.#schedule = new ProbeSchedule(options.clock);
    this.#listeners = new Listeners('a probe with another verdict', options.log);
    this.onChange = this.#listeners.add;
  }

  readonly onChange: PodProbes['onChange'];

  readonly run: Service['run'] = async (signal, ready) => {
    using _frozen = this.#options.frozen.onBegin((containerId) => this.#interrupt(containerId));
    ready();
    await this.#schedule.run(signal, (line, dueMs) => void this.#probe(line, dueMs));
    for (const line of this.#allLines()) line.end?.abort(noReason);
  };

  follow(owner: ProbedPod, targets: readonly ProbeTarget[]): ReadonlyMap<string, ContainerProbes> {
    const uid = owner.pod.metadata?.uid ?? '';
    const known = this.#pods.get(uid);
    if (targets.length === 0 && known === undefined) return none;
    const containers = known ?? new Map<string, ProbedContainer>();
    this.#pods.set(uid, containers);
    for (const [name, container] of containers)
      if (!targets.some(({ id }) => id === container.target.id)) this.#drop(containers, name);
    for (const target of targets) this.#take(containers, target, owner);
    return new Map([...containers].map(([name, container]) => [name, container.results()]));
  }

  waitsOf(podUid: string): ReadonlyMap<string, ProbeWait> {
    const waits = new Map<string, ProbeWait>();
    for (const [name, container] of this.#pods.get(podUid) ?? []) {
      const wait = container.wait();
      if (wait !== undefined) waits.set(name, wait);
    }
    return waits;
  }

  forget(podUid: string): void {
    const containers = this.#pods.get(podUid) ?? new Map<string, ProbedContainer>();
    for (const name of [...containers.keys()]) this.#drop(containers, name);
    this.#pods.delete(podUid);
    this.#options.metrics.forget(podUid);
  }

  #allLines(): ProbeLine[] {
    return [...this.#pods.values()].flatMap((containers) =>
      [...containers.values()].flatMap(({ lines }) => lines),
    );
  }

  #take(containers: Map<string, ProbedContainer>, target: ProbeTarget, owner: ProbedPod): void {
    const { name } = target.spec;
    const known = containers.get(name);
    if (known !== undefined) known.owner = owner;
    const container = known ?? new ProbedContainer(target, owner, this.#startOf(target));
    containers.set(name, container);
    this.#arm(container);
  }

  /** Monotonic. The wall clock is asked once, so that it may be set as much as one likes afterwards. */
  #startOf({ startedMs }: ProbeTarget): number {
    const { clock } = this.#options;
    const ageMs = startedMs === undefined ? 0 : Math.max(0, clock.now() - startedMs);
    return clock.monotonicMs() - ageMs;
  }

  #drop(containers: Map<string, ProbedContainer>, name: string): void {
    for (const line of containers.get(name)?.lines ?? []) this.#hold(line);
    containers.delete(name);
  }

  #hold(line: ProbeLine): void {
    this.#schedule.delete(line);
    line.end?.abort(noReason);
    line.end = undefined;
  }

  /** Schedules the probes of the container that are to be run, and holds the others. */
  #arm(container: ProbedContainer): void {
    for (const line of container.lines) {
      if (!container.isToProbe(line.kind)) this.#hold(line);
      else if (line.end === undefined && !this.#schedule.has(line)) this.#begin(line);
    }
  }

  /** Readiness of which nothing is known is tried at once; everything else begins somewhere within its period. */
  #begin(line: ProbeLine): void {
    const { container, kind, probe, state, periodMs } = line;
    const delayMs = (probe.initialDelaySeconds ?? 0) * 1000;
    const fromMs = Math.max(this.#options.clock.monotonicMs(), container.startedMs + delayMs);
    line.isAtOnce = kind === 'readiness' && state.verdict === undefined;
    this.#schedule.set(line, line.isAtOnce ? fromMs : this.#schedule.choosePoint(fromMs, periodMs));
  }

  async #probe(line: ProbeLine, dueMs: number): Promise<void> {
    const { calls, clock, commands, frozen, log } = this.#options;
    const { container, kind, probe } = line;
    if (frozen.has(container.target.id)) return this.#postpone(line);
    const end = new AbortController();
    line.end = end;
    const startedMs = clock.monotonicMs();
    try {
      const tools = { calls, clock, commands: commands.ofPod(container.names.podUid) };
      const outcome = await runProbe(probe, container.place, tools, end.signal);
      if (end.signal.aborted) return;
      line.end = undefined;
      this.#note(line, outcome, (clock.monotonicMs() - startedMs) / 1000);
    } catch (error) {
      if (end.signal.aborted) return;
      line.end = undefined;
      log.error(`the ${kind} probe of container ${container.names.container}: ${describeError(error)}`);
    }
    this.#scheduleNext(line, dueMs);
    this.#arm(container);
  }

  #postpone(line: ProbeLine): void {
    this.#schedule.set(line, this.#options.clock.monotonicMs() + afterCheckpointMs);
  }

  /** What is under way when the container is frozen says nothing of it. */
  #interrupt(containerId: string): void {
    for (const line of this.#allLines()) {
      if (line.container.target.id !== containerId || line.end === undefined) continue;
      this.#hold(line);
      this.#postpone(line);
    }
  }

  #scheduleNext(line: ProbeLine, dueMs: number): void {
    if (!line.container.isToProbe(line.kind)) return;
    const { periodMs } = line;
    const nowMs = this.#options.clock.monotonicMs();
    const missed = Math.max(1, Math.ceil((nowMs - dueMs) / periodMs));
    const nextMs = line.isAtOnce ? this.#schedule.choosePoint(nowMs, periodMs) : dueMs + missed * periodMs;
    line.isAtOnce = false;
    this.#schedule.set(line, nextMs);
  }

  #note(line: ProbeLine, outcome: ProbeOutcome, seconds: number): void {
    const { kind, container, probe } = line;
    const { metrics } = this.#options;
    this.#report(line, outcome);
    line.isUnknown = outcome.result === 'unknown';
    const result = { success: 'successful', failure: 'failed', unknown: 'unknown' } as const;
    metrics.probed(kind, container.names, result[outcome.result], seconds);
    if (outcome.result === 'success') line.why = undefined;
    else line.why = outcome.result === 'failure' ? outcome.output.trim() : outcome.why;
    if (outcome.result === 'unknown') return;
    const before = line.state.verdict;
    line.state = withOutcome(line.state, outcome.result === 'success', probe);
    if (line.state.verdict !== before) this.#listeners.notify(container.names.podUid);
  }

  #report({ kind, container }: ProbeLine, outcome: ProbeOutcome): void {
    const { report } = this.#options;
    const { owner, target } = container;
    const warn = (reason: string, message: string) =>
      report(owner.pod, { type: 'Warning', reason, message }, target.spec.name);
    const title = `${titleOf(kind)} probe`;
    if (outcome.result === 'failure') warn('Unhealthy', `${title} failed: ${outcome.output}`);
    else if (outcome.result === 'unknown')
      warn('Unhealthy', `${title} errored and resulted in unknown state: ${outcome.why}`);
    else if (outcome.warning !== undefined) warn('ProbeWarning', `${title} warning: ${outcome.warning}`);
  }
}

import type { Pod } from '../../api/index.ts';
import type { ProbeState, ProbeStates } from './machine.ts';
import { failuresNeeded, isToProbe, newState } from './machine.ts';
import type { ProbedNames } from './metrics.ts';
import type { Container, Probe, ProbeKind, ProbePlace } from './types.ts';
import { probeKinds } from './types.ts';

/** A container that runs and has probes. */
export interface ProbeTarget {
  readonly id: string;
  readonly spec: Container;
  /** Of the wall clock; undefined: not known. */
  readonly startedMs: number | undefined;
  /** What was known of it before this agent began to probe it, or was said of it; undefined: nothing. */
  readonly known?: { readonly isStarted: boolean; readonly isReady: boolean } | undefined;
}

/** The pod of some targets, as it is now. */
export interface ProbedPod {
  readonly pod: Pod;
  /** Its first address, or the node's in the network of the host. */
  readonly host: string | undefined;
  /** Whether it ends: only its readiness is probed then. */
  readonly isEnding: boolean;
}

/** What probes say of one container; without such a probe, or before its first verdict, undefined. */
export interface ContainerProbes {
  readonly containerId: string;
  readonly startup: boolean | undefined;
  readonly readiness: boolean | undefined;
  readonly liveness: boolean | undefined;
  /** terminationGracePeriodSeconds of the probe that failed. */
  readonly graceSeconds: number | undefined;
  /** Why that failed. */
  readonly message: string | undefined;
}

/** Why a container that runs does not count as started, or as ready. */
export interface ProbeWait {
  readonly reason: 'ContainerNotStarted' | 'ContainerNotReady';
  readonly message: string;
}

/** One probe of one container. */
export class ProbeLine {
  readonly kind: ProbeKind;
  readonly probe: Probe;
  readonly container: ProbedContainer;
  state: ProbeState = newState;
  /** Why it failed, or could not be run, last; undefined when it succeeded last, or has not been tried. */
  why: string | undefined;
  /** Whether it could not be run last. */
  isUnknown = false;
  /** While it is run: ends that. */
  end: AbortController | undefined;
  /** Whether the next try stands outside the period: it is made as soon as it may be. */
  isAtOnce = false;

  constructor(kind: ProbeKind, probe: Probe, container: ProbedContainer) {
    this.kind = kind;
    this.probe = probe;
    this.container = container;
  }

  get periodMs(): number {
    return (this.probe.periodSeconds || defaultPeriodSeconds) * 1000;
  }

  describe(): string {
    if (this.isUnknown) return `the ${this.kind} probe cannot be run: ${this.why}`;
    const { last, inRow } = this.state;
    if (last === undefined) return `the ${this.kind} probe has not been tried yet`;
    const why = this.why ?? 'it has not succeeded often enough in a row';
    const tries =
      this.kind === 'startup' ? `${inRow} of ${failuresNeeded(this.probe)} tries` : countOf(inRow);
    return `${this.kind} probe has not succeeded: ${why}${last ? '' : `, ${tries}`}`;
  }
}

const defaultPeriodSeconds = 10;
const countOf = (inRow: number) => (inRow === 1 ? 'once' : `${inRow} times in a row`);

const specOf: Readonly<Record<ProbeKind, (spec: Container) => Probe | undefined>> = {
  startup: ({ startupProbe }) => startupProbe,
  readiness: ({ readinessProbe }) => readinessProbe,
  liveness: ({ livenessProbe }) => livenessProbe,
};

export function hasProbes(spec: Container): boolean {
  return probeKinds.some((kind) => specOf[kind](spec) !== undefined);
}

/** The probes of one container, from its start to its end; the next container of its name begins again. */
export class ProbedContainer {
  readonly target: ProbeTarget;
  /** Monotonic: when it was started. */
  readonly startedMs: number;
  readonly lines: readonly ProbeLine[];
  owner: ProbedPod;

  constructor(target: ProbeTarget, owner: ProbedPod, startedMs: number) {
    this.target = target;
    this.owner = owner;
    this.startedMs = startedMs;
    this.lines = probeKinds.flatMap((kind) => {
      const probe = specOf[kind](target.spec);
      return probe === undefined ? [] : [new ProbeLine(kind, probe, this)];
    });
    this.#adopt();
  }

  /** What was known of it counts until a probe says otherwise. */
  #adopt(): void {
    const { known } = this.target;
    if (known === undefined) return;
    const startup = this.#line('startup');
    if (startup !== undefined && known.isStarted) startup.state = { ...newState, verdict: true };
    const readiness = this.#line('readiness');
    if (readiness !== undefined) readiness.state = { ...newState, verdict: known.isReady };
  }

  get names(): ProbedNames {
    const { name: pod = '', namespace = '', uid: podUid = '' } = this.owner.pod.metadata ?? {};
    return { namespace, pod, podUid, container: this.target.spec.name };
  }

  get place(): ProbePlace {
    return { containerId: this.target.id, host: this.owner.host, container: this.target.spec };
  }

  isToProbe(kind: ProbeKind): boolean {
    return isToProbe(kind, this.#states(), this.owner.isEnding);
  }

  results(): ContainerProbes {
    const { startup, readiness, liveness } = this.#states();
    const failed = this.lines.find(({ kind, state }) => kind !== 'readiness' && state.verdict === false);
    return {
      containerId: this.target.id,
      startup: startup?.verdict,
      readiness: readiness?.verdict,
      liveness: liveness?.verdict,
      graceSeconds: failed?.probe.terminationGracePeriodSeconds,
      message: failed?.why,
    };
  }

  wait(): ProbeWait | undefined {
    if (this.owner.isEnding) return undefined;
    const [startup, readiness] = [this.#line('startup'), this.#line('readiness')];
    if (startup !== undefined && startup.state.verdict !== true)
      return { reason: 'ContainerNotStarted', message: startup.describe() };
    if (readiness === undefined || readiness.state.verdict === true) return undefined;
    return { reason: 'ContainerNotReady', message: readiness.describe() };
  }

  #line(kind: ProbeKind): ProbeLine | undefined {
    return this.lines.find((line) => line.kind === kind);
  }

  #states(): ProbeStates {
    return Object.fromEntries(this.lines.map(({ kind, state }) => [kind, state]));
  }
}

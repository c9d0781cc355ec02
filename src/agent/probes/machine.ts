/**
 * What the probes of one container make of it. A pure machine: outcomes go in, verdicts come out.
 *
 *     startup ──succeeds──► readiness and liveness begin, startup is over for this container
 *        └──fails──► everything waits for the next container
 *     liveness ──fails──► over, until the next container; readiness goes on to the end
 */
import type { Probe, ProbeKind } from './types.ts';

export interface ProbeState {
  /** What counts; undefined until as many outcomes of a kind came in a row as the probe asks for. */
  readonly verdict: boolean | undefined;
  /** The last outcome that counted, and how many of its kind came in a row. */
  readonly last: boolean | undefined;
  readonly inRow: number;
}

export const newState: ProbeState = { verdict: undefined, last: undefined, inRow: 0 };

export type ProbeStates = Readonly<Partial<Record<ProbeKind, ProbeState>>>;

type Thresholds = Pick<Probe, 'successThreshold' | 'failureThreshold'>;

const defaultThresholds = { successThreshold: 1, failureThreshold: 3 };

export function failuresNeeded({ failureThreshold }: Thresholds): number {
  return failureThreshold || defaultThresholds.failureThreshold;
}

/** A probe that could not be run has no outcome: it changes nothing. */
export function withOutcome(state: ProbeState, isSuccess: boolean, probe: Thresholds): ProbeState {
  const inRow = state.last === isSuccess ? state.inRow + 1 : 1;
  const successes = probe.successThreshold || defaultThresholds.successThreshold;
  const needed = isSuccess ? successes : failuresNeeded(probe);
  return { last: isSuccess, inRow, verdict: inRow >= needed ? isSuccess : state.verdict };
}

/** Whether a probe of that kind is to be run now. `states` has one for each probe of the container. */
export function isToProbe(kind: ProbeKind, states: ProbeStates, isEnding: boolean): boolean {
  const own = states[kind];
  if (own === undefined) return false;
  if (kind === 'startup') return own.verdict === undefined && !isEnding;
  if (states.startup !== undefined && states.startup.verdict !== true) return false;
  return kind === 'readiness' || (own.verdict !== false && !isEnding);
}

import type { Host } from './host.ts';

/**
 * What a check says. `failed`: nodeward, or what it is asked to do, does not work here. `warning`: it works, and
 * something is weaker, about to end or only missing for some workloads. `unknown`: it could not be found out, from here
 * or in time. `not-applicable`: this machine is not meant to have it.
 */
export type Verdict = 'ok' | 'warning' | 'failed' | 'unknown' | 'not-applicable';

export const verdicts: readonly Verdict[] = ['ok', 'warning', 'failed', 'unknown', 'not-applicable'];

/** In the order in which they are shown. */
export const topics = [
  'kernel',
  'cgroups',
  'security',
  'memory',
  'runtime',
  'checkpoints',
  'storage',
  'clock',
  'agent',
] as const;
export type Topic = (typeof topics)[number];

export interface Finding {
  readonly verdict: Verdict;
  readonly found: string;
  /** What to do about it, one sentence; absent where there is nothing to do. */
  readonly advice?: string;
}

/** One row of the report. */
export interface Check {
  /** Stable: for `--only`, for programs and for the metric. */
  readonly id: string;
  readonly topic: Topic;
  readonly title: string;
  /** What this machine should have, whatever is found. */
  readonly needed: string;
  /** How long it may take; default 8 s. */
  readonly timeoutMs?: number;
  /**
   * Also made at the agent's start: reads the kernel's files and asks the runtime at most, and tells what the agent does
   * not notice anyway.
   */
  readonly fast?: boolean;
  /** Never changes the host. May reject: then the verdict is `unknown`, with the reason. */
  run(host: Host, signal: AbortSignal): Promise<Finding> | Finding;
}

/** A check with what it found. */
export interface Row extends Finding {
  readonly id: string;
  readonly topic: Topic;
  readonly title: string;
  readonly needed: string;
}

export const ok = (found: string): Finding => ({ verdict: 'ok', found });
export const warning = (found: string, advice: string): Finding => ({ verdict: 'warning', found, advice });
export const failed = (found: string, advice: string): Finding => ({ verdict: 'failed', found, advice });
export const unknown = (found: string, advice?: string): Finding =>
  advice === undefined ? { verdict: 'unknown', found } : { verdict: 'unknown', found, advice };
export const notApplicable = (found: string): Finding => ({ verdict: 'not-applicable', found });

/** What another user's files and processes hide. */
export const asRoot = 'run this as root to see it';

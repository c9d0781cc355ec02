import type { Host } from './host.ts';

/**
 * The result of a check. `failed`: nodeward, or a part of what it does, does not work here. `warning`: it works, but
 * something is weaker, about to expire or missing for some workloads. `unknown`: it could not be found out by this user
 * or in time. `not-applicable`: this machine is not meant to have it.
 */
export type Verdict = 'ok' | 'warning' | 'failed' | 'unknown' | 'not-applicable';

export const verdicts: readonly Verdict[] = ['ok', 'warning', 'failed', 'unknown', 'not-applicable'];

/** In the order of the report. */
export const topics = [
  'kernel',
  'cgroups',
  'security',
  'memory',
  'runtime',
  'pods',
  'checkpoints',
  'storage',
  'clock',
  'agent',
] as const;
type Topic = (typeof topics)[number];

export interface Finding {
  readonly verdict: Verdict;
  readonly found: string;
  /** What the operator should do, in one sentence; absent where there is nothing to do. */
  readonly advice?: string;
}

/** A check; it yields one row of the report. */
export interface Check {
  /** Stable: used by `--only`, by programs and by the metric. */
  readonly id: string;
  readonly topic: Topic;
  readonly title: string;
  /** What this machine should have. */
  readonly needed: string;
  /** How long it may take; default 8 s. */
  readonly timeoutMs?: number;
  /**
   * Also run at the agent's start: it only reads the kernel's files and queries the runtime, and finds what the agent
   * would not notice otherwise.
   */
  readonly fast?: boolean;
  /** Must not change the host. A rejection means the verdict `unknown`, with the error as the reason. */
  run(host: Host, signal: AbortSignal): Promise<Finding> | Finding;
}

/** A check with its finding. */
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

/** The advice where another user's files or processes are hidden. */
export const asRoot = 'run this as root to see it';

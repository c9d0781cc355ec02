import type { Pod } from '../../../api/index.ts';
import { endOf } from './job-pods.ts';

/** As in the reference. */
const firstDelayMs = 10_000;
const maxDelayMs = 600_000;

/** What is remembered of how pods of a Job ended, also of those that are gone. Times are of the wall clock. */
export interface FailureRecord {
  readonly lastSuccessMs: number;
  /** By uid, since the last success. */
  readonly failures: ReadonlyMap<string, number>;
}

const none: FailureRecord = { lastSuccessMs: 0, failures: new Map() };

/** More failures make no longer wait. */
const maxRemembered = 50;

/** The record with pods that have succeeded and that have failed; none counts twice. */
export function recordEnds(
  before: FailureRecord = none,
  succeeded: readonly Pod[],
  failed: readonly Pod[],
): FailureRecord {
  const lastSuccessMs = latest([before.lastSuccessMs, ...succeeded.map(endOf)]);
  const ends = failed.map((pod): [string, number] => [pod.metadata?.uid ?? '', endOf(pod)]);
  const newest = [...new Map([...before.failures, ...ends])]
    .filter(([, atMs]) => atMs >= lastSuccessMs)
    .sort(([, one], [, other]) => other - one)
    .slice(0, maxRemembered);
  return { lastSuccessMs, failures: new Map(newest) };
}

/** When a pod may be made again, wall clock, ms; the past: now. */
export function mayCreateAtMs({ failures }: FailureRecord): number {
  return failures.size === 0 ? 0 : latest([...failures.values()]) + delayAfter(failures.size);
}

/** 10 s, doubled with each further failure, to 10 minutes. */
export function delayAfter(failures: number): number {
  return Math.min(firstDelayMs * 2 ** Math.min(failures - 1, 10), maxDelayMs);
}

function latest(times: readonly number[]): number {
  return times.reduce((last, ms) => Math.max(last, ms), 0);
}

import type { Clock, Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';

/*
 * Three clocks show what happened between two heartbeats. The monotonic clock stands still while the machine sleeps, the
 * uptime continues, and the wall clock can be set. So
 *   uptime − monotonic          is how long the machine slept,
 *   wall − monotonic − sleep    is by how much the wall clock was set,
 *   monotonic − due             is how long this process was held up (stopped, or its loop blocked).
 */

export interface TimeWatch {
  /** Call on waking for a heartbeat that was due at `dueMs` of the monotonic clock. */
  woke(dueMs: number): void;
  failed(error: unknown): void;
  /** Call after a heartbeat was accepted that took `requestMs`. */
  succeeded(requestMs: number): void;
  /** How many heartbeats were late so far, and why the last one was. */
  readonly late: { readonly count: number; readonly lastReason: string | undefined };
  /** The troubles of the last five minutes, the last of each kind, for the message of Ready. */
  remarks(): readonly string[];
}

/** The kinds of trouble that are recognised; each is logged and counted once when it occurs. */
export type TroubleKind = 'late' | 'sleep' | 'clockJump' | 'slowServer';

export interface TimeWatchOptions {
  clock: Clock;
  log: Logger;
  intervalMs: number;
  /** Milliseconds since the machine started, with the time it slept. */
  uptimeMs: () => number;
  /** Called for each trouble. */
  onTrouble?: (kind: TroubleKind) => void;
}

/** Smaller differences are the clocks' own inaccuracy and ordinary load. */
const minSleepMs = 1000;
const minJumpMs = 2000;
const minStallMs = 1000;
/** A server becomes slow with an answer that takes at least so long … */
const slowAnswerMs = 2500;
/** … and stays so until an answer takes less than this. */
const fastAnswerMs = 1000;
const rememberedMs = 300_000;

interface Sample {
  monotonicMs: number;
  wallMs: number;
  uptimeMs: number;
}

/** What has delayed heartbeats since the last one that succeeded. */
interface Trouble {
  sleptMs: number;
  stalledMs: number;
  failures: number;
  lastError: unknown;
}

const noTrouble = (): Trouble => ({ sleptMs: 0, stalledMs: 0, failures: 0, lastError: undefined });

/** Recognises clock jumps, sleep, stalls, a slow server and late heartbeats, and logs each once. */
export function createTimeWatch(options: TimeWatchOptions): TimeWatch {
  const { clock, log, intervalMs, uptimeMs } = options;
  const take = (): Sample => ({
    monotonicMs: clock.monotonicMs(),
    wallMs: clock.now(),
    uptimeMs: uptimeMs(),
  });
  const late: { count: number; lastReason: string | undefined } = { count: 0, lastReason: undefined };
  const recent = new Map<TroubleKind, { remark: string; atMs: number }>();
  let isSlow = false;
  let last = take();
  let trouble = noTrouble();
  let goodMs: number | undefined;

  function notice(kind: TroubleKind, remark: string, advice = ''): void {
    recent.set(kind, { remark, atMs: clock.monotonicMs() });
    log.warn(`${remark}${advice}`);
    options.onTrouble?.(kind);
  }

  function checkAnswer(requestMs: number): void {
    if (requestMs < fastAnswerMs) isSlow = false;
    if (isSlow || requestMs < slowAnswerMs) return;
    isSlow = true;
    notice('slowServer', `the API server takes ${formatSeconds(requestMs)} for a heartbeat`);
  }

  function checkClocks(): void {
    const now = take();
    const gap = compare(last, now);
    last = now;
    trouble.sleptMs += gap.sleptMs;
    if (gap.sleptMs > 0) notice('sleep', `the machine slept for ${formatSeconds(gap.sleptMs)}`);
    if (gap.jumpMs !== 0) {
      const direction = gap.jumpMs > 0 ? 'forward' : 'back';
      const remark = `the wall clock was set ${direction} by ${formatSeconds(gap.jumpMs)}`;
      notice('clockJump', remark, '; heartbeats keep their pace');
    }
  }

  return {
    late,
    woke(dueMs) {
      checkClocks();
      const heldUpMs = clock.monotonicMs() - dueMs;
      if (heldUpMs > minStallMs) trouble.stalledMs += heldUpMs;
    },
    failed(error) {
      trouble.failures += 1;
      trouble.lastError = error;
    },
    succeeded(requestMs) {
      checkClocks();
      checkAnswer(requestMs);
      const nowMs = clock.monotonicMs();
      if (goodMs !== undefined) {
        const lateMs = nowMs - goodMs + trouble.sleptMs - intervalMs;
        if (lateMs > intervalMs) {
          late.count += 1;
          late.lastReason = describeCauses(trouble, requestMs);
          notice('late', `heartbeat late by ${formatSeconds(lateMs)} because ${late.lastReason}`);
        }
      }
      goodMs = nowMs;
      trouble = noTrouble();
    },
    remarks() {
      const nowMs = clock.monotonicMs();
      return [...recent.values()]
        .filter(({ atMs }) => nowMs - atMs < rememberedMs)
        .map(({ remark }) => remark);
    },
  };
}

/** How long the machine slept, and by how much the wall clock was set, between two samples. */
function compare(before: Sample, after: Sample): { sleptMs: number; jumpMs: number } {
  const passedMs = after.monotonicMs - before.monotonicMs;
  const asleepMs = after.uptimeMs - before.uptimeMs - passedMs;
  const sleptMs = asleepMs >= minSleepMs ? asleepMs : 0;
  const setMs = after.wallMs - before.wallMs - passedMs - sleptMs;
  return { sleptMs, jumpMs: Math.abs(setMs) >= minJumpMs ? setMs : 0 };
}

function describeCauses(trouble: Trouble, requestMs: number): string {
  const { sleptMs, stalledMs, failures, lastError } = trouble;
  const causes = [
    ...(sleptMs > 0 ? [`the machine slept for ${formatSeconds(sleptMs)}`] : []),
    ...(stalledMs > 0 ? [`the agent was held up for ${formatSeconds(stalledMs)}`] : []),
    ...(failures > 0 ? [`${failures} tries failed, the last with: ${describeError(lastError)}`] : []),
  ];
  if (causes.length === 0) return `the API server took ${formatSeconds(requestMs)} to answer`;
  return causes.join(', and ');
}

function formatSeconds(ms: number): string {
  return `${(Math.abs(ms) / 1000).toFixed(1)} s`;
}

import type { Clock, Waker } from '../../../base/index.ts';
import { createWaker, describeError } from '../../../base/index.ts';
import type { Judgement, Remark } from '../index.ts';
import type { PendingCheck } from './pending.ts';
import { observe, scheduleCheck } from './pending.ts';
import type { FileFacts, Refusal } from './read-profile.ts';
import { inspectProfile, readProfile } from './read-profile.ts';
import { isTruncatedJson } from './truncated-json.ts';
import type { ProfileChange, RegisteredProfile, Verdict } from './types.ts';
import { verdictKey } from './verdict.ts';

/*
 * A file that may still be written is not judged. It is inspected twice, a settling time apart, and read only when it has not
 * changed in between. A file that changes while it is read, or whose JSON is incomplete, is checked again later. The previous
 * verdict stands meanwhile. A file that has not changed for the settling time when it is first found, as at a start, is read
 * at once.
 *
 *     mark ─► inspect ─(unchanged for settleMs?)─► read ─► incomplete JSON? ─(patienceMs)─► judge ─► verdict
 */

export interface TrackerOptions {
  folder: string;
  judge: (bytes: Uint8Array) => Judgement | Promise<Judgement>;
  /** Longer files are refused unread. */
  limitBytes: number;
  clock: Clock;
  /** How long a file must be unchanged before it is read. */
  settleMs: number;
  /** How long a file with incomplete JSON must be unchanged before it is judged: until then it may still be written. */
  patienceMs: number;
  /** Whether a pod names the path: then it is tracked even when no file is there. */
  isNamed: (path: string) => boolean;
  onVerdict: (change: ProfileChange) => void;
  /** Called when a file exists and could not be read. */
  onReadFailure: () => void;
}

interface Tracked {
  verdict: Verdict | undefined;
  pending: PendingCheck | undefined;
}

type Inspected = Awaited<ReturnType<typeof inspectProfile>>;

/** Follows files of the folder that are marked as changed, and judges each when it has settled. */
export class ProfileTracker {
  readonly #options: TrackerOptions;
  readonly #tracked = new Map<string, Tracked>();
  readonly #waker: Waker;

  constructor(options: TrackerOptions) {
    this.#options = options;
    this.#waker = createWaker(options.clock);
  }

  /** Schedules a check of the path, where something may have changed. */
  mark(path: string): void {
    const known = this.#tracked.get(path);
    const pending = { observed: known?.pending?.observed, dueMs: this.#options.clock.monotonicMs() };
    this.#tracked.set(path, { verdict: known?.verdict, pending });
    this.#waker.wake();
  }

  /** Stops tracking the path, which is no profile any more. */
  forget(path: string): void {
    this.#tracked.delete(path);
  }

  has(path: string): boolean {
    return this.#tracked.has(path);
  }

  get(path: string): RegisteredProfile | undefined {
    const tracked = this.#tracked.get(path);
    return tracked && toProfile(path, tracked);
  }

  /** Sorted by path. */
  all(): readonly RegisteredProfile[] {
    return [...this.#tracked]
      .map(([path, each]) => toProfile(path, each))
      .sort((one, other) => (one.path < other.path ? -1 : 1));
  }

  /** Checks and judges until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const [path, pending] of this.#listDue()) {
        if (signal.aborted) return;
        if (this.#isCurrent(path, pending)) await this.#check(path, pending);
      }
      await this.#waker.sleep(this.#untilNextMs(), signal);
    }
  }

  async #check(path: string, pending: PendingCheck): Promise<void> {
    const { folder, settleMs } = this.#options;
    const found = await inspectProfile(folder, path);
    if (!this.#isCurrent(path, pending)) return;
    if (found.kind !== 'found') return this.#settleWithout(path, pending, found);
    const unchangedMs = this.#unchangedMs(pending, found.facts);
    if (unchangedMs < settleMs) return this.#checkAfter(pending, settleMs - unchangedMs);
    await this.#read(path, pending, found.facts);
  }

  async #read(path: string, pending: PendingCheck, inspected: FileFacts): Promise<void> {
    const { folder, clock, settleMs, patienceMs, limitBytes } = this.#options;
    const found = await readProfile(folder, path, limitBytes);
    if (!this.#isCurrent(path, pending)) return;
    if (found.kind === 'refused') return this.#refuse(path, found);
    if (found.kind !== 'found') return this.#settleWithout(path, pending, found);
    const { bytes, facts } = found;
    const unchangedMs = this.#unchangedMs(pending, facts);
    if (facts.fingerprint !== inspected.fingerprint) return this.#checkAfter(pending, settleMs);
    if (unchangedMs < patienceMs && isTruncatedJson(bytes))
      return this.#checkAfter(pending, patienceMs - unchangedMs);
    const judgement = await this.#judge(bytes);
    if (!this.#isCurrent(path, pending)) return;
    if ('reason' in judgement) return this.#refuse(path, judgement);
    const kind = judgement.errors.length === 0 ? 'valid' : 'invalid';
    const times = { modifiedMs: facts.touchedMs, judgedMs: clock.now() };
    this.#conclude(path, { kind, ...limitRemarks(judgement), sizeBytes: facts.size, ...times });
  }

  /** A failure of the judge is reported for this file, and does not affect others. */
  async #judge(bytes: Uint8Array): Promise<Judgement | Refusal> {
    try {
      return await this.#options.judge(bytes);
    } catch (error) {
      return { reason: `it cannot be judged: ${describeError(error)}`, mayPass: true };
    }
  }

  /**
   * How long a file has been unchanged: by the observations here or by its own times, whichever is longer. The wall clock may
   * have been set meanwhile.
   */
  #unchangedMs(pending: PendingCheck, { fingerprint, touchedMs }: FileFacts): number {
    const { clock } = this.#options;
    return Math.max(observe(pending, fingerprint, clock.monotonicMs()), clock.now() - touchedMs);
  }

  /** A file that is being replaced may be missing for a moment, or be a link to a file that does not exist yet. */
  #settleWithout(path: string, pending: PendingCheck, found: Exclude<Inspected, { kind: 'found' }>): void {
    const { clock, settleMs, isNamed } = this.#options;
    const what = found.kind === 'refused' ? `refused: ${found.reason}` : found.kind;
    const unchangedMs = observe(pending, what, clock.monotonicMs());
    if (found.kind === 'moving') this.#checkAfter(pending, settleMs);
    else if (unchangedMs < settleMs) this.#checkAfter(pending, settleMs - unchangedMs);
    else if (found.kind === 'missing') {
      this.#conclude(path, isNamed(path) ? { kind: 'missing', judgedMs: clock.now() } : undefined);
    } else this.#refuse(path, found);
  }

  #refuse(path: string, { reason, mayPass }: Refusal): void {
    this.#options.onReadFailure();
    const passing = mayPass === true ? { mayPass } : {};
    this.#conclude(path, { kind: 'unreadable', reason, ...passing, judgedMs: this.#options.clock.now() });
  }

  #conclude(path: string, after: Verdict | undefined): void {
    const before = this.#tracked.get(path)?.verdict;
    if (after === undefined) this.#tracked.delete(path);
    else this.#tracked.set(path, { verdict: after, pending: undefined });
    if (verdictKey(before) !== verdictKey(after)) this.#options.onVerdict({ path, before, after });
  }

  #checkAfter(pending: PendingCheck, afterMs: number): void {
    scheduleCheck(pending, this.#options.clock.monotonicMs(), afterMs);
  }

  #isCurrent(path: string, pending: PendingCheck): boolean {
    return this.#tracked.get(path)?.pending === pending;
  }

  #listDue(): [string, PendingCheck][] {
    const nowMs = this.#options.clock.monotonicMs();
    return [...this.#tracked].flatMap(([path, { pending }]): [string, PendingCheck][] =>
      pending !== undefined && pending.dueMs <= nowMs ? [[path, pending]] : [],
    );
  }

  #untilNextMs(): number {
    const nowMs = this.#options.clock.monotonicMs();
    let minMs = idleMs;
    for (const { pending } of this.#tracked.values()) {
      if (pending !== undefined) minMs = Math.min(minMs, pending.dueMs - nowMs);
    }
    return Math.max(0, minMs);
  }
}

/** The limit of errors, and of warnings, kept for each profile. */
const remarkLimit = 20;

function limitRemarks({
  digest,
  errors,
  warnings,
}: Judgement): Pick<Judgement, 'digest' | 'errors' | 'warnings'> {
  return { digest, errors: takeFirst(errors), warnings: takeFirst(warnings) };
}

function takeFirst(remarks: readonly Remark[]): readonly Remark[] {
  const more = remarks.length - remarkLimit;
  if (more <= 0) return remarks;
  return [...remarks.slice(0, remarkLimit), { path: '', message: `and ${more} more` }];
}

/** The longest sleep when no check is pending. */
const idleMs = 60_000;

function toProfile(path: string, { verdict, pending }: Tracked): RegisteredProfile {
  return { path, verdict, isSettling: pending !== undefined };
}

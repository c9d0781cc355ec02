import type { Clock } from '../../../base/index.ts';
import { createWaker, describeError } from '../../../base/index.ts';
import type { Judgement, Remark } from '../index.ts';
import { endedEarly } from './ended-early.ts';
import type { Pending } from './pending.ts';
import { lookAgain, noteSeen } from './pending.ts';
import type { FileFacts, Refusal } from './read-profile.ts';
import { lookAt, readProfile } from './read-profile.ts';
import type { ProfileChange, RegisteredProfile, Verdict } from './types.ts';
import { verdictWord } from './verdict.ts';

/*
 * A file that is being written is not judged: it is looked at twice, a settling time apart, and read only when it has stayed as
 * it was; what changes while it is read, or ends in the middle of a sentence, is looked at again. Meanwhile its former
 * verdict stands. What was at rest for long already when it is first seen, as at a start, is read at once.
 *
 *     mark ─► look ─(settling time, the same again?)─► read ─► ended early? ─(patience)─► judge ─► verdict
 */

export interface TrackerOptions {
  folder: string;
  judge: (bytes: Uint8Array) => Judgement | Promise<Judgement>;
  /** Longer files are refused unread. */
  limitBytes: number;
  clock: Clock;
  /** How long a file must stay as it is before it is read. */
  settleMs: number;
  /** How long a text that ends early is taken for one that is still written. */
  patienceMs: number;
  /** Whether a path is to be kept though nothing is there. */
  isNamed: (path: string) => boolean;
  onVerdict: (change: ProfileChange) => void;
  /** A file that is there could not be read. */
  onReadFailure: () => void;
}

export interface ProfileTracker {
  /** Something may have changed at this path. */
  mark(path: string): void;
  /** What is at this path is no profile any more: forgets it. */
  forget(path: string): void;
  has(path: string): boolean;
  get(path: string): RegisteredProfile | undefined;
  all(): readonly RegisteredProfile[];
  /** Looks and judges until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface Tracked {
  verdict: Verdict | undefined;
  pending: Pending | undefined;
}

type Looked = Awaited<ReturnType<typeof lookAt>>;

export function createProfileTracker(options: TrackerOptions): ProfileTracker {
  const { folder, clock, settleMs, patienceMs } = options;
  const tracked = new Map<string, Tracked>();
  const waker = createWaker(clock);

  function conclude(path: string, after: Verdict | undefined): void {
    const known = tracked.get(path);
    const before = known?.verdict;
    if (after === undefined) tracked.delete(path);
    else tracked.set(path, { verdict: after, pending: undefined });
    if (verdictWord(before) !== verdictWord(after)) options.onVerdict({ path, before, after });
  }

  function waitFor(pending: Pending, afterMs: number): void {
    lookAgain(pending, clock.monotonicMs(), afterMs);
  }

  function isCurrent(path: string, pending: Pending): boolean {
    return tracked.get(path)?.pending === pending;
  }

  async function step(path: string, pending: Pending): Promise<void> {
    const found = await lookAt(folder, path);
    if (!isCurrent(path, pending)) return;
    if (found.kind !== 'found') return settleWithout(path, pending, found);
    const restedMs = restOf(pending, found.facts);
    if (restedMs < settleMs) return waitFor(pending, settleMs - restedMs);
    await read(path, pending, found.facts);
  }

  async function read(path: string, pending: Pending, looked: FileFacts): Promise<void> {
    const found = await readProfile(folder, path, options.limitBytes);
    if (!isCurrent(path, pending)) return;
    if (found.kind === 'refused') {
      refuse(path, found);
      return;
    }
    if (found.kind !== 'found') return settleWithout(path, pending, found);
    const { bytes, facts } = found;
    const restedMs = restOf(pending, facts);
    if (facts.fingerprint !== looked.fingerprint) return waitFor(pending, settleMs);
    if (restedMs < patienceMs && endedEarly(bytes)) return waitFor(pending, patienceMs - restedMs);
    const judgement = await judged(bytes);
    if (!isCurrent(path, pending)) return;
    if ('reason' in judgement) {
      refuse(path, judgement);
      return;
    }
    const kind = judgement.errors.length === 0 ? 'valid' : 'invalid';
    const times = { modifiedMs: facts.touchedMs, judgedMs: clock.now() };
    conclude(path, { kind, ...kept(judgement), sizeBytes: facts.size, ...times });
  }

  /** A fault of the judge is told of the one file, and harms no other. */
  async function judged(bytes: Uint8Array): Promise<Judgement | Refusal> {
    try {
      return await options.judge(bytes);
    } catch (error) {
      return { reason: `it cannot be judged: ${describeError(error)}`, mayPass: true };
    }
  }

  /** How long a file has been as it is: as it was seen here, or as its times say. The clock may have been set meanwhile. */
  function restOf(pending: Pending, { fingerprint, touchedMs }: FileFacts): number {
    return Math.max(noteSeen(pending, fingerprint, clock.monotonicMs()), clock.now() - touchedMs);
  }

  /** A file that is replaced may be away for a moment, or be a link to what is not there yet. */
  function settleWithout(path: string, pending: Pending, found: Exclude<Looked, { kind: 'found' }>): void {
    const what = found.kind === 'refused' ? `refused: ${found.reason}` : found.kind;
    const restedMs = noteSeen(pending, what, clock.monotonicMs());
    if (found.kind === 'moving') waitFor(pending, settleMs);
    else if (restedMs < settleMs) waitFor(pending, settleMs - restedMs);
    else if (found.kind === 'missing') {
      conclude(path, options.isNamed(path) ? { kind: 'missing', judgedMs: clock.now() } : undefined);
    } else refuse(path, found);
  }

  function refuse(path: string, { reason, mayPass }: Refusal): void {
    options.onReadFailure();
    const passing = mayPass === true ? { mayPass } : {};
    conclude(path, { kind: 'unreadable', reason, ...passing, judgedMs: clock.now() });
  }

  function due(): [string, Pending][] {
    const nowMs = clock.monotonicMs();
    return [...tracked].flatMap(([path, { pending }]): [string, Pending][] =>
      pending !== undefined && pending.dueMs <= nowMs ? [[path, pending]] : [],
    );
  }

  function untilNextMs(): number {
    const nowMs = clock.monotonicMs();
    let minMs = idleMs;
    for (const { pending } of tracked.values()) {
      if (pending !== undefined) minMs = Math.min(minMs, pending.dueMs - nowMs);
    }
    return Math.max(0, minMs);
  }

  return {
    mark(path) {
      const known = tracked.get(path);
      const pending = { seen: known?.pending?.seen, dueMs: clock.monotonicMs() };
      tracked.set(path, { verdict: known?.verdict, pending });
      waker.wake();
    },
    forget: (path) => void tracked.delete(path),
    has: (path) => tracked.has(path),
    get: (path) => shown(path, tracked.get(path)),
    all: () =>
      [...tracked]
        .flatMap(([path, each]) => shown(path, each) ?? [])
        .sort((one, other) => (one.path < other.path ? -1 : 1)),
    async run(signal) {
      while (!signal.aborted) {
        for (const [path, pending] of due()) {
          if (signal.aborted) return;
          if (isCurrent(path, pending)) await step(path, pending);
        }
        await waker.sleep(untilNextMs(), signal);
      }
    },
  };
}

/** Of each sort, for each profile. */
const remarkLimit = 20;

function kept({ digest, errors, warnings }: Judgement): Pick<Judgement, 'digest' | 'errors' | 'warnings'> {
  return { digest, errors: firstOf(errors), warnings: firstOf(warnings) };
}

function firstOf(remarks: readonly Remark[]): readonly Remark[] {
  const more = remarks.length - remarkLimit;
  if (more <= 0) return remarks;
  return [...remarks.slice(0, remarkLimit), { path: '', message: `and ${more} more` }];
}

/** Between two looks at nothing in particular. */
const idleMs = 60_000;

function shown(path: string, tracked: Tracked | undefined): RegisteredProfile | undefined {
  if (tracked === undefined) return undefined;
  return { path, verdict: tracked.verdict, isSettling: tracked.pending !== undefined };
}

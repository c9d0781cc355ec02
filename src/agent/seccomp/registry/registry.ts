import type { Pod } from '../../../api/index.ts';
import type { FolderDiff, FolderWatch } from '../../../base/folder-watch/index.ts';
import type { Clock, Logger, MetricsRegistry, Service } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { EventRecorder } from '../../node/events/index.ts';
import { createChangeLog } from './change-log.ts';
import { isProfileName, normalizedProfile } from './file-names.ts';
import type { ProfileUse } from './in-use.ts';
import { profilesInUse } from './in-use.ts';
import { registryMetrics } from './metrics.ts';
import { createTelling } from './telling.ts';
import type { TrackerOptions } from './tracker.ts';
import { createProfileTracker } from './tracker.ts';
import type { ProfileChange, RegisteredProfile, SeccompRegistry } from './types.ts';

export interface SeccompRegistryOptions {
  /** Absolute; it may be missing. Nothing is ever written in it. */
  folder: string;
  watch: FolderWatch;
  judge: TrackerOptions['judge'];
  /** The pods of this node: what they name is followed whatever it is called, and they are told when it changes. */
  pods: { pods(): readonly Pod[]; onChange(listener: () => void): Disposable };
  events: EventRecorder;
  nodeName: string;
  /** Longer files are refused unread. */
  limitBytes: number;
  clock: Clock;
  log: Logger;
  metrics?: MetricsRegistry;
  dependsOn?: readonly string[];
  /** How long a file must stay as it is before it is judged; default 500 ms. */
  settleMs?: number;
  /** How long a text that ends early is taken for one that is still written; default 5 s. */
  patienceMs?: number;
  /** How often is looked at what pods name and the watch does not see, such as below a link to a folder; default 10 s. */
  recheckMs?: number;
}

export interface SeccompRegistryService extends Service, SeccompRegistry {
  /** Who names which profile now. */
  uses(): ReadonlyMap<string, readonly ProfileUse[]>;
  /** Why the list of profiles may not be all there are, in words for people. */
  problem(): string | undefined;
}

/**
 * The service `seccomp-registry`: follows the node's seccomp profiles and keeps what is to be said of each (specification,
 * sections 2.6 and 2.8). It only reads; a folder that is missing is waited for.
 */
export function createSeccompRegistry(options: SeccompRegistryOptions): SeccompRegistryService {
  const { folder, watch, pods, clock, log } = options;
  const listeners = new Set<(change: ProfileChange) => void>();
  let uses: ReadonlyMap<string, readonly ProfileUse[]> = new Map();
  const isNamed = (path: string) => uses.has(path);

  const tracker = createProfileTracker({
    folder,
    judge: options.judge,
    limitBytes: options.limitBytes,
    clock,
    settleMs: options.settleMs ?? 500,
    patienceMs: options.patienceMs ?? 5000,
    isNamed,
    onVerdict,
    onReadFailure: () => metrics.readFailed(),
  });
  const metrics = registryMetrics(options.metrics, { all: () => tracker.all(), isNamed });
  const telling = createTelling(options);

  const logChange = createChangeLog(log, clock);

  function onVerdict(change: ProfileChange): void {
    metrics.changed(change);
    logChange(change, isNamed(change.path));
    const users = uses.get(change.path);
    if (users !== undefined) telling.compareOne(change.path, users, change.after);
    for (const listener of listeners) tell(listener, change);
  }

  function tell(listener: (change: ProfileChange) => void, change: ProfileChange): void {
    try {
      listener(change);
    } catch (error) {
      log.error(
        { err: error },
        `a change of a seccomp profile could not be worked on: ${describeError(error)}`,
      );
    }
  }

  function onFiles({ added, changed, removed }: FolderDiff): void {
    for (const { path, kind } of [...added, ...changed]) {
      const isProfile = isProfileName(path) && kind !== 'folder';
      if (isProfile || isNamed(path) || tracker.has(path)) tracker.mark(path);
    }
    for (const { path } of removed) if (tracker.has(path)) tracker.mark(path);
  }

  function onPods(): void {
    const before = uses;
    uses = profilesInUse(pods.pods());
    for (const path of uses.keys()) if (!tracker.has(path)) tracker.mark(path);
    for (const path of before.keys()) {
      if (isNamed(path)) continue;
      const isThere = watch.view?.entries.has(path) === true;
      if (!isThere || !isProfileName(path)) tracker.forget(path);
    }
    telling.compare(uses, (path) => tracker.get(path)?.verdict);
  }

  /**
   * What the watch does not tell of: what lies beyond it, what was there between two of its looks only, and what failed and may
   * succeed by itself.
   */
  async function recheck(signal: AbortSignal): Promise<void> {
    let last = '';
    while (!signal.aborted) {
      await clock.sleep(options.recheckMs ?? 10_000, signal);
      const turn = turnAfter(last, tracker.all().filter(isOpen));
      for (const { path } of turn) tracker.mark(path);
      last = turn.at(-1)?.path ?? '';
    }
  }

  function isOpen({ path, verdict, isSettling }: RegisteredProfile): boolean {
    const isBeyond = watch.view?.entries.has(path) !== true;
    const mayPass = verdict?.kind === 'unreadable' && verdict.mayPass === true;
    return !isSettling && (isBeyond || mayPass);
  }

  return {
    name: 'seccomp-registry',
    dependsOn: options.dependsOn ?? [],
    onFailure: 'restart',
    profiles: () => tracker.all(),
    find(localhostProfile) {
      const path = normalizedProfile(localhostProfile);
      return path === undefined ? undefined : tracker.get(path);
    },
    uses: () => uses,
    problem: () => (watch.view === undefined ? `${folder} has not been looked at yet` : watch.view.problem),
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async run(signal, ready) {
      using _files = watch.onChange(onFiles);
      using _pods = pods.onChange(onPods);
      onPods();
      await together(signal, [
        (end) => watch.run(end, ready),
        (end) => tracker.run(end),
        (end) => recheck(end),
      ]);
    },
  };
}

/** So many are looked at again at once: others say what pods name. */
const turnLimit = 200;

/** The next ones in the order of their paths, and from the first again after the last. */
function turnAfter(last: string, profiles: readonly RegisteredProfile[]): readonly RegisteredProfile[] {
  if (profiles.length <= turnLimit) return profiles;
  const rest = profiles.filter(({ path }) => path > last);
  return (rest.length > 0 ? rest : profiles).slice(0, turnLimit);
}

/** Runs the parts; when one fails the others are ended before the failure is passed on. */
async function together(
  signal: AbortSignal,
  parts: readonly ((signal: AbortSignal) => Promise<void>)[],
): Promise<void> {
  const failed = new AbortController();
  const end = AbortSignal.any([signal, failed.signal]);
  const results = await Promise.allSettled(
    parts.map(async (part) => {
      try {
        await part(end);
      } finally {
        failed.abort();
      }
    }),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

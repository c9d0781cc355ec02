import type { Pod } from '../../../api/index.ts';
import type { FolderDiff, FolderWatch } from '../../../base/folder-watch/index.ts';
import type { Clock, Logger, MetricsRegistry, Service } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { EventRecorder } from '../../node/events/index.ts';
import type { ChangeLog } from './change-log.ts';
import { createChangeLog } from './change-log.ts';
import { isProfileName, normalizeProfilePath } from './file-names.ts';
import type { RegistryMetrics } from './metrics.ts';
import { registryMetrics } from './metrics.ts';
import { ProfileEvents } from './profile-events.ts';
import type { ProfileUse } from './profile-uses.ts';
import { findProfileUses } from './profile-uses.ts';
import type { TrackerOptions } from './tracker.ts';
import { ProfileTracker } from './tracker.ts';
import type { ProfileChange, RegisteredProfile, SeccompRegistry } from './types.ts';

export interface SeccompRegistryOptions {
  /** Absolute; it may be missing. Nothing is ever written in it. */
  folder: string;
  watch: FolderWatch;
  judge: TrackerOptions['judge'];
  /**
   * The pods of this node. The profiles that they name are tracked whatever their file names, and changes of these get an
   * Event on the pod.
   */
  pods: { pods(): readonly Pod[]; onChange(listener: () => void): Disposable };
  events: EventRecorder;
  nodeName: string;
  /** Longer files are refused unread. */
  limitBytes: number;
  clock: Clock;
  log: Logger;
  metrics?: MetricsRegistry;
  dependsOn?: readonly string[];
  /** How long a file must be unchanged before it is judged; default 500 ms. */
  settleMs?: number;
  /** How long a file with incomplete JSON must be unchanged before it is judged; default 5 s. */
  patienceMs?: number;
  /**
   * How often paths are checked that pods name and the watch does not cover, such as below a link to a folder; default 10
   * s.
   */
  recheckMs?: number;
}

/**
 * The service `seccomp-registry`: tracks the node's seccomp profiles and keeps a verdict on each (specification, sections 2.6
 * and 2.8). It only reads; when the folder is missing it waits for it.
 */
export class SeccompRegistryService implements Service, SeccompRegistry {
  readonly name = 'seccomp-registry';
  readonly onFailure = 'restart';
  readonly dependsOn: readonly string[];
  readonly #options: SeccompRegistryOptions;
  readonly #tracker: ProfileTracker;
  readonly #metrics: RegistryMetrics;
  readonly #events: ProfileEvents;
  readonly #logChange: ChangeLog;
  readonly #listeners = new Set<(change: ProfileChange) => void>();
  #uses: ReadonlyMap<string, readonly ProfileUse[]> = new Map();

  constructor(options: SeccompRegistryOptions) {
    this.#options = options;
    this.dependsOn = options.dependsOn ?? [];
    const isNamed = (path: string) => this.#uses.has(path);
    this.#tracker = new ProfileTracker({
      folder: options.folder,
      judge: options.judge,
      limitBytes: options.limitBytes,
      clock: options.clock,
      settleMs: options.settleMs ?? 500,
      patienceMs: options.patienceMs ?? 5000,
      isNamed,
      onVerdict: (change) => this.#onVerdict(change),
      onReadFailure: () => this.#metrics.readFailed(),
    });
    this.#metrics = registryMetrics(options.metrics, { all: () => this.#tracker.all(), isNamed });
    this.#events = new ProfileEvents(options);
    this.#logChange = createChangeLog(options.log, options.clock);
  }

  profiles(): readonly RegisteredProfile[] {
    return this.#tracker.all();
  }

  find(localhostProfile: string): RegisteredProfile | undefined {
    const path = normalizeProfilePath(localhostProfile);
    return path === undefined ? undefined : this.#tracker.get(path);
  }

  /** The pods that name each profile now, by the profile's path. */
  uses(): ReadonlyMap<string, readonly ProfileUse[]> {
    return this.#uses;
  }

  /** Why the list of profiles may be incomplete, for the user. */
  problem(): string | undefined {
    const { folder, watch } = this.#options;
    return watch.view === undefined ? `${folder} has not been looked at yet` : watch.view.problem;
  }

  onChange(listener: (change: ProfileChange) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  async run(signal: AbortSignal, ready: () => void): Promise<void> {
    const { watch, pods } = this.#options;
    using _files = watch.onChange((diff) => this.#onFiles(diff));
    using _pods = pods.onChange(() => this.#onPods());
    this.#onPods();
    await runTogether(signal, [
      (end) => watch.run(end, ready),
      (end) => this.#tracker.run(end),
      (end) => this.#recheck(end),
    ]);
  }

  #onVerdict(change: ProfileChange): void {
    const { path, after } = change;
    this.#metrics.changed(change);
    this.#logChange(change, this.#uses.has(path));
    const users = this.#uses.get(path);
    if (users !== undefined) this.#events.report(path, users, after);
    for (const listener of this.#listeners) this.#notify(listener, change);
  }

  #notify(listener: (change: ProfileChange) => void, change: ProfileChange): void {
    try {
      listener(change);
    } catch (error) {
      this.#options.log.error(
        { err: error },
        `a change of a seccomp profile could not be worked on: ${describeError(error)}`,
      );
    }
  }

  #onFiles({ added, changed, removed }: FolderDiff): void {
    for (const { path, kind } of [...added, ...changed]) {
      const isProfile = isProfileName(path) && kind !== 'folder';
      if (isProfile || this.#uses.has(path) || this.#tracker.has(path)) this.#tracker.mark(path);
    }
    for (const { path } of removed) if (this.#tracker.has(path)) this.#tracker.mark(path);
  }

  #onPods(): void {
    const { watch, pods } = this.#options;
    const before = this.#uses;
    this.#uses = findProfileUses(pods.pods());
    for (const path of this.#uses.keys()) if (!this.#tracker.has(path)) this.#tracker.mark(path);
    for (const path of before.keys()) {
      if (this.#uses.has(path)) continue;
      const isThere = watch.view?.entries.has(path) === true;
      if (!isThere || !isProfileName(path)) this.#tracker.forget(path);
    }
    this.#events.reportAll(this.#uses, (path) => this.#tracker.get(path)?.verdict);
  }

  /**
   * Checks again what the watch does not report: files outside its reach, files that existed only between two of its scans,
   * and reads that failed and may succeed later.
   */
  async #recheck(signal: AbortSignal): Promise<void> {
    const { clock, recheckMs = 10_000 } = this.#options;
    let lastPath = '';
    while (!signal.aborted) {
      await clock.sleep(recheckMs, signal);
      const open = this.#tracker.all().filter((profile) => this.#needsRecheck(profile));
      const batch = nextBatch(lastPath, open);
      for (const { path } of batch) this.#tracker.mark(path);
      lastPath = batch.at(-1)?.path ?? '';
    }
  }

  #needsRecheck({ path, verdict, isSettling }: RegisteredProfile): boolean {
    const isBeyondWatch = this.#options.watch.view?.entries.has(path) !== true;
    const mayPass = verdict?.kind === 'unreadable' && verdict.mayPass === true;
    return !isSettling && (isBeyondWatch || mayPass);
  }
}

/** The limit of paths that are checked again at once: users decide how many paths pods name. */
const maxBatch = 200;

/** The next paths in sorted order; starts over after the last one. */
function nextBatch(lastPath: string, profiles: readonly RegisteredProfile[]): readonly RegisteredProfile[] {
  if (profiles.length <= maxBatch) return profiles;
  const rest = profiles.filter(({ path }) => path > lastPath);
  return (rest.length > 0 ? rest : profiles).slice(0, maxBatch);
}

/** Runs the parts; when one ends or fails the others are ended before the failure is passed on. */
async function runTogether(
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

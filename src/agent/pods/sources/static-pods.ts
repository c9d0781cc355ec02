import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../../api/index.ts';
import { loadYamlReader } from '../../../api/index.ts';
import type { FolderWatch } from '../../../base/folder-watch/index.ts';
import { watchFolder } from '../../../base/folder-watch/index.ts';
import type { Clock, Logger, Service } from '../../../base/index.ts';
import { createWaker } from '../../../base/index.ts';
import type { PodMetrics } from '../metrics.ts';
import { compareFullNames } from '../names.ts';
import type { PodSource } from '../types.ts';
import { createListeners } from './listeners.ts';
import { isVisible } from './manifest-file.ts';
import { ManifestStore } from './manifest-store.ts';
import type { Verdict } from './verdicts.ts';
import { formatVerdict } from './verdicts.ts';

export interface StaticPodsOptions {
  /** Absolute. */
  folder: string;
  /** Whether the configuration names the folder; the default folder may be missing without a warning. */
  isStated: boolean;
  nodeName: string;
  /** The longest time between two scans of the folder. */
  rescanMs: number;
  /** How long a file must have been unchanged before it is read; default 500. */
  quietMs?: number;
  metrics: PodMetrics;
  log: Logger;
  clock: Clock;
}

/** The pods of the manifests on this node. */
export interface StaticPods extends PodSource {
  readonly folder: string;
  /** The verdict on each file, in the order of their names. */
  verdicts(): readonly Verdict[];
  /** What is wrong with the folder as a whole. */
  problem(): string | undefined;
  /** Whether all files have been judged once; before, a missing pod may only not have been read yet. */
  isComplete(): boolean;
  /** Of a service. */
  readonly run: Service['run'];
}

const maxManifests = 500;

/** Follows the folder of manifests; see docs/static-pods.md. */
export function createStaticPods(options: StaticPodsOptions): StaticPods {
  const { folder, nodeName, rescanMs, quietMs = 500, metrics, log, clock } = options;
  const listeners = createListeners(log);
  const watch = watchFolder({ folder, select: isVisible, maxEntries: maxManifests, rescanMs, log, clock });
  let verdicts: readonly Verdict[] = [];
  let pods: readonly Pod[] = [];
  let problem: string | undefined;
  let isComplete = false;

  function publish(now: readonly Verdict[]): void {
    logChanges(verdicts, now, log);
    verdicts = now;
    metrics.manifests(now);
    const counting = now.flatMap(({ pod }) => (pod === undefined ? [] : [pod])).sort(compareFullNames);
    const { problem: wrong, isMissing } = watch.view ?? {};
    const isWhole = wrong === undefined || isMissing === true;
    const isKnown = isComplete || (isWhole && now.every(({ state }) => state !== 'waiting'));
    if (isKnown === isComplete && isDeepStrictEqual(counting, pods)) return;
    isComplete = isKnown;
    pods = counting;
    listeners.notify(pods);
  }

  function updateProblem(): void {
    const now = isReported(watch, options.isStated) ? watch.view?.problem : undefined;
    if (now !== undefined && now !== problem) log.warn(now);
    problem = now;
  }

  async function follow(store: ManifestStore, signal: AbortSignal, ready: () => void): Promise<void> {
    const waker = createWaker(clock);
    using _changes = watch.onChange(waker.wake);
    let isFirst = true;
    while (!signal.aborted) {
      const waitMs = await store.update(watch.view ?? (await watch.rescan()));
      updateProblem();
      publish(store.verdicts());
      if (isFirst) ready();
      isFirst = false;
      await waker.sleep(waitMs || rescanMs, signal);
      if (waitMs > 0) await watch.rescan();
    }
  }

  return {
    folder,
    pods: () => pods,
    verdicts: () => verdicts,
    problem: () => problem,
    isComplete: () => isComplete,
    onChange: listeners.add,
    async run(signal, ready) {
      const readYaml = await loadYamlReader();
      const store = new ManifestStore({ folder, nodeName, readYaml, quietMs, clock });
      const scanned = Promise.withResolvers<void>();
      const watching = watch.run(signal, scanned.resolve);
      await Promise.race([scanned.promise, watching]);
      await Promise.all([watching, follow(store, signal, ready)]);
    },
  };
}

function isReported({ view }: FolderWatch, isStated: boolean): boolean {
  return isStated || view === undefined || view.isMissing !== true;
}

/** Logs each change once; a file that is being written is not logged yet. */
function logChanges(before: readonly Verdict[], now: readonly Verdict[], log: Logger): void {
  const texts = new Map(before.map((verdict) => [verdict.file, formatVerdict(verdict)]));
  for (const verdict of now) {
    const text = formatVerdict(verdict);
    if (verdict.state === 'waiting' || texts.get(verdict.file) === text) continue;
    if (verdict.state === 'accepted' || verdict.state === 'ignored') log.info(text);
    else log.warn(text);
  }
  const files = new Set(now.map(({ file }) => file));
  for (const { file } of before) if (!files.has(file)) log.info(`manifest ${file} is gone`);
}

import type { Pod } from '../../api/index.ts';
import { podKind, StatusError } from '../../api/index.ts';
import type { Clock, Logger, Service } from '../../base/index.ts';
import { createBackoff, describeError } from '../../base/index.ts';
import type { ApiClient, WatchEvent } from '../../client/index.ts';
import { createListeners } from './listeners.ts';
import type { PodMetrics } from './metrics.ts';
import { annotationOf, compareFullNames, fullName, mirrorAnnotation } from './names.ts';
import type { PodSource } from './types.ts';

export interface ApiPodsOptions {
  api: Pick<ApiClient, 'list' | 'watch'>;
  nodeName: string;
  metrics: PodMetrics;
  log: Logger;
  clock: Clock;
  random?: () => number;
}

/** The pods that the API has for this node, mirror pods included, as last received. */
export interface ApiPods extends PodSource {
  /** Whether they have been listed once. */
  isSynced(): boolean;
  /** Of a service; ready at once, as the API need not be reachable. */
  readonly run: Service['run'];
}

/** Far more than a node may have by the configuration. */
const maxPods = 5000;
const pageSize = 500;

/** Bookmarks come every minute: a watch that is silent for longer has lost its server. */
const idleTimeoutMs = 150_000;
const firstWaitMs = 500;
const maxWaitMs = 30_000;

export function createApiPods(options: ApiPodsOptions): ApiPods {
  const { api, nodeName, metrics, log, clock, random = Math.random } = options;
  const fieldSelector = `spec.nodeName=${nodeName}`;
  const listeners = createListeners(log);
  const known = new Map<string, Pod>();
  const backoff = createBackoff({ initialMs: firstWaitMs, maxMs: maxWaitMs, jitter: 0.3, random });
  let sorted: readonly Pod[] = [];
  let isSynced = false;
  let resourceVersion: string | undefined;
  let isTooMany = false;
  let failure: string | undefined;

  function notify(): void {
    sorted = [...known.values()].sort(compareFullNames);
    metrics.fromApi(sorted.filter((pod) => annotationOf(pod, mirrorAnnotation) === undefined).length);
    listeners.notify(sorted);
  }

  function remember(pod: Pod): void {
    const isRoom = known.size < maxPods || known.has(fullName(pod));
    if (isRoom) known.set(fullName(pod), pod);
    else if (!isTooMany)
      log.warn(`the API has more than ${maxPods} pods for this node; the others are not looked at`);
    isTooMany ||= !isRoom;
  }

  async function list(signal: AbortSignal): Promise<void> {
    const all: Pod[] = [];
    let next: string | undefined;
    let metadata: { resourceVersion?: string } = {};
    do {
      const page = await api.list(podKind, {
        ...{ fieldSelector, limit: pageSize, signal },
        ...(next === undefined ? {} : { continue: next }),
      });
      all.push(...page.items);
      metadata = page.metadata;
      next = page.metadata.continue;
    } while (next && all.length < maxPods);
    known.clear();
    isTooMany = false;
    for (const pod of all) remember(pod);
    resourceVersion = metadata.resourceVersion;
    isSynced = true;
    metrics.listed();
    reportRecovery();
    notify();
  }

  function apply({ type, object }: WatchEvent<Pod>): void {
    resourceVersion = object.metadata?.resourceVersion ?? resourceVersion;
    if (type === 'BOOKMARK') return;
    if (type === 'DELETED') known.delete(fullName(object));
    else remember(object);
    notify();
  }

  async function follow(signal: AbortSignal): Promise<void> {
    if (resourceVersion === undefined) await list(signal);
    const timeoutSeconds = Math.floor(300 + 300 * random());
    const events = api.watch(podKind, {
      ...{ fieldSelector, timeoutSeconds, allowWatchBookmarks: true, idleTimeoutMs, signal },
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    });
    for await (const event of events) {
      reportRecovery();
      backoff.reset();
      apply(event);
    }
  }

  function reportRecovery(): void {
    if (failure !== undefined) log.info('the pods of this node are followed on the API again');
    failure = undefined;
  }

  /** Logs each reason once; that the API is unreachable is also logged by the heartbeat. */
  function reportFailure(error: unknown): void {
    const now = describeError(error);
    if (now !== failure) log.warn(`the pods of this node cannot be followed on the API: ${now}`);
    failure = now;
  }

  return {
    pods: () => sorted,
    isSynced: () => isSynced,
    onChange: listeners.add,
    async run(signal, ready) {
      ready();
      while (!signal.aborted) {
        try {
          await follow(signal);
        } catch (error) {
          if (signal.aborted) return;
          if (isExpired(error)) resourceVersion = undefined;
          else reportFailure(error);
        }
        await clock.sleep(backoff.next(), signal);
      }
    },
  };
}

/** The changes since that resourceVersion are no longer available. */
function isExpired(error: unknown): boolean {
  return error instanceof StatusError && (error.reason === 'Expired' || error.reason === 'Gone');
}

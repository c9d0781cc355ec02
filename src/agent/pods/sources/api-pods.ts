import type { Pod } from '../../../api/index.ts';
import { podKind, StatusError } from '../../../api/index.ts';
import type { Backoff, Clock, Logger, Service } from '../../../base/index.ts';
import { createBackoff, describeError } from '../../../base/index.ts';
import type { ApiClient, WatchEvent } from '../../../client/index.ts';
import type { PodMetrics } from '../metrics.ts';
import { annotationOf, compareFullNames, fullName, mirrorAnnotation } from '../names.ts';
import { differsInOwnStatusOnly } from '../status/index.ts';
import type { PodSource } from '../types.ts';
import type { Listeners } from './listeners.ts';
import { createListeners } from './listeners.ts';

export interface ApiPodsOptions {
  api: Pick<ApiClient, 'list' | 'watch'>;
  nodeName: string;
  metrics: PodMetrics;
  log: Logger;
  clock: Clock;
  random?: () => number;
}

/** Far more than a node may have by the configuration. */
const maxPods = 5000;
const pageSize = 500;

/** Bookmarks come every minute: a watch that is silent for longer has lost its server. */
const idleTimeoutMs = 150_000;
/** How late listeners learn of what this agent wrote itself: those of many pods together. */
const echoMs = 200;
const firstWaitMs = 500;
const maxWaitMs = 30_000;

/** The pods that the API has for this node, mirror pods included, as last received. */
export class ApiPods implements PodSource {
  readonly #options: ApiPodsOptions;
  readonly #random: () => number;
  readonly #fieldSelector: string;
  readonly #listeners: Listeners;
  readonly #backoff: Backoff;
  /** By full name. */
  readonly #known = new Map<string, Pod>();
  #sorted: readonly Pod[] = [];
  #isSynced = false;
  /** Whether listeners are to be called, in a moment, for what this agent wrote itself. */
  #isEchoing = false;
  /** Where the next watch starts; undefined: the pods are listed first. */
  #resourceVersion: string | undefined;
  #isTooMany = false;
  /** The reason that was logged last; undefined while the pods are followed. */
  #failure: string | undefined;

  constructor(options: ApiPodsOptions) {
    const { nodeName, log, random = Math.random } = options;
    this.#options = options;
    this.#random = random;
    this.#fieldSelector = `spec.nodeName=${nodeName}`;
    this.#listeners = createListeners(log);
    this.#backoff = createBackoff({ initialMs: firstWaitMs, maxMs: maxWaitMs, jitter: 0.3, random });
  }

  pods(): readonly Pod[] {
    return this.#sorted;
  }

  /** Whether they have been listed once. */
  isSynced(): boolean {
    return this.#isSynced;
  }

  onChange(listener: (pods: readonly Pod[]) => void): Disposable {
    return this.#listeners.add(listener);
  }

  /** Of a service; ready at once, as the API need not be reachable. */
  readonly run: Service['run'] = async (signal, ready) => {
    ready();
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (isExpired(error)) this.#resourceVersion = undefined;
        else this.#reportFailure(error);
      }
      await this.#options.clock.sleep(this.#backoff.next(), signal);
    }
  };

  async #follow(signal: AbortSignal): Promise<void> {
    if (this.#resourceVersion === undefined) await this.#list(signal);
    const fieldSelector = this.#fieldSelector;
    const resourceVersion = this.#resourceVersion;
    const timeoutSeconds = Math.floor(300 + 300 * this.#random());
    const events = this.#options.api.watch(podKind, {
      ...{ fieldSelector, timeoutSeconds, allowWatchBookmarks: true, idleTimeoutMs, signal },
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    });
    for await (const event of events) {
      this.#reportRecovery();
      this.#backoff.reset();
      this.#apply(event, signal);
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { api, metrics } = this.#options;
    const fieldSelector = this.#fieldSelector;
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
    this.#known.clear();
    this.#isTooMany = false;
    for (const pod of all) this.#remember(pod);
    this.#resourceVersion = metadata.resourceVersion;
    this.#isSynced = true;
    metrics.listed();
    this.#reportRecovery();
    this.#notify();
  }

  #apply({ type, object }: WatchEvent<Pod>, signal: AbortSignal): void {
    this.#resourceVersion = object.metadata?.resourceVersion ?? this.#resourceVersion;
    if (type === 'BOOKMARK') return;
    const before = this.#known.get(fullName(object));
    if (type === 'DELETED') this.#known.delete(fullName(object));
    else this.#remember(object);
    const isEcho = type !== 'DELETED' && before !== undefined && differsInOwnStatusOnly(before, object);
    if (isEcho && this.#sorted.includes(before)) this.#echo(before, object, signal);
    else this.#notify();
  }

  #echo(before: Pod, now: Pod, signal: AbortSignal): void {
    this.#sorted = this.#sorted.with(this.#sorted.indexOf(before), now);
    if (this.#isEchoing) return;
    this.#isEchoing = true;
    void this.#options.clock.sleep(echoMs, signal).then(() => {
      if (this.#isEchoing) this.#listeners.notify(this.#sorted);
      this.#isEchoing = false;
    });
  }

  #remember(pod: Pod): void {
    const isRoom = this.#known.size < maxPods || this.#known.has(fullName(pod));
    if (isRoom) this.#known.set(fullName(pod), pod);
    else if (!this.#isTooMany)
      this.#options.log.warn(
        `the API has more than ${maxPods} pods for this node; the others are not looked at`,
      );
    this.#isTooMany ||= !isRoom;
  }

  #notify(): void {
    this.#isEchoing = false;
    const sorted = [...this.#known.values()].sort(compareFullNames);
    this.#sorted = sorted;
    const own = sorted.filter((pod) => annotationOf(pod, mirrorAnnotation) === undefined);
    this.#options.metrics.fromApi(own.length);
    this.#listeners.notify(sorted);
  }

  #reportRecovery(): void {
    if (this.#failure !== undefined)
      this.#options.log.info('the pods of this node are followed on the API again');
    this.#failure = undefined;
  }

  /** Logs each reason once; that the API is unreachable is also logged by the heartbeat. */
  #reportFailure(error: unknown): void {
    const now = describeError(error);
    if (now !== this.#failure)
      this.#options.log.warn(`the pods of this node cannot be followed on the API: ${now}`);
    this.#failure = now;
  }
}

/** The changes since that resourceVersion are no longer available. */
function isExpired(error: unknown): boolean {
  return error instanceof StatusError && (error.reason === 'Expired' || error.reason === 'Gone');
}

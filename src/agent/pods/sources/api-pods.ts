import type { Pod } from '../../../api/index.ts';
import { podKind } from '../../../api/index.ts';
import type { Clock, Logger, Service } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { ApiClient } from '../../../client/index.ts';
import { ObjectFollower } from '../../../client/index.ts';
import type { PodMetrics } from '../metrics.ts';
import { annotationOf, compareFullNames, fullName, mirrorAnnotation, sourceAnnotation } from '../names.ts';
import { differsInOwnStatusOnly } from '../status/index.ts';
import type { PodSource } from '../types.ts';
import type { PodListeners } from './listeners.ts';
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
/** How late listeners learn of what this agent wrote itself: those of many pods together. */
const echoMs = 200;

/** The pods that the API has for this node, mirror pods included, as last received. */
export class ApiPods implements PodSource {
  readonly #options: ApiPodsOptions;
  readonly #listeners: PodListeners;
  /** By full name. */
  readonly #known = new Map<string, Pod>();
  #sorted: readonly Pod[] = [];
  #isSynced = false;
  /** Whether listeners are to be called, in a moment, for what this agent wrote itself. */
  #isEchoing = false;
  #isTooMany = false;
  /** The reason that was logged last; undefined while the pods are followed. */
  #failure: string | undefined;

  constructor(options: ApiPodsOptions) {
    this.#options = options;
    this.#listeners = createListeners(options.log);
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
    const { api, nodeName, clock, random = Math.random } = this.#options;
    const follower = new ObjectFollower({
      ...{ api, kind: podKind, maxObjects: maxPods, clock, random },
      fieldSelector: `spec.nodeName=${nodeName}`,
      onList: (pods) => this.#takeAll(pods),
      onChange: (type, pod) => this.#apply(type, withoutClaims(pod), signal),
      onAnswer: () => this.#reportRecovery(),
      onFailure: (error) => this.#reportFailure(error),
    });
    ready();
    await follower.run(signal);
  };

  #takeAll(pods: readonly Pod[]): void {
    this.#known.clear();
    this.#isTooMany = false;
    for (const pod of pods) this.#remember(withoutClaims(pod));
    this.#isSynced = true;
    this.#options.metrics.listed();
    this.#notify();
  }

  #apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Pod, signal: AbortSignal): void {
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

/**
 * Where a pod comes from is not for its author to say: one of the API with the annotation of static pods would have no
 * status. Mirrors keep what they show.
 */
function withoutClaims(pod: Pod): Pod {
  const { metadata } = pod;
  if (annotationOf(pod, sourceAnnotation) === undefined) return pod;
  if (annotationOf(pod, mirrorAnnotation) !== undefined) return pod;
  const { [sourceAnnotation]: _claimed, ...annotations } = metadata?.annotations ?? {};
  return { ...pod, metadata: { ...metadata, annotations } };
}

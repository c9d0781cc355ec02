import type { ConfigMap, Pod, Secret } from '../../api/index.ts';
import { configMapKind, listPodReferences, StatusError, secretKind } from '../../api/index.ts';
import type { Clock, Logger, Service } from '../../base/index.ts';
import { describeError, Listeners, Semaphore, untilAborted } from '../../base/index.ts';
import type { ApiClient, OutageLog } from '../../client/index.ts';
import { createOutageLog } from '../../client/index.ts';
import { FollowedBundles } from './followed-bundles.ts';
import type { FollowOptions } from './followed-object.ts';
import { FollowedObject } from './followed-object.ts';
import { KeptBytes } from './kept-bytes.ts';
import type { BundleChoice, TrustAnchors } from './trust-anchors.ts';
import type { Known, ObjectName, PodObjects } from './types.ts';

export interface NodeObjectsOptions {
  readonly api: Pick<ApiClient, 'list' | 'watch'>;
  readonly log: Logger;
  readonly clock: Clock;
  /** Of all kinds together; default 2000. */
  readonly maxObjects?: number;
  /** Of all their values together; default 128 MiB. */
  readonly maxBytes?: number;
  readonly random?: () => number;
}

type Followed = FollowedObject<ConfigMap> | FollowedObject<Secret> | FollowedBundles;

/** What is followed for one pod. */
interface Held {
  /** What the pod itself names. */
  readonly named: ReadonlySet<Followed>;
  readonly further: Set<Followed>;
}

const mib = 1024 * 1024;
/** Far more than the pods of a node name. */
const defaultMaxObjects = 2000;
/** Each may have a MiB: what is kept of all of them must not fill the memory of a node. */
const defaultMaxBytes = 128 * mib;
/** How many objects are listed, or their watches opened, at a time: after an outage all of them are. */
const maxStarts = 8;

/** The ConfigMaps, Secrets and ClusterTrustBundles of the pods of this node, from the API. */
export class NodeObjects implements PodObjects {
  readonly #options: NodeObjectsOptions;
  readonly #maxObjects: number;
  readonly #maxBytes: number;
  readonly #kept: KeptBytes<Followed>;
  readonly #starts = new Semaphore(() => maxStarts);
  readonly #listeners: Listeners<[name: ObjectName, podUids: ReadonlySet<string>]>;
  readonly #outage: OutageLog;
  /** By namespace and name. */
  readonly #configMaps = new Map<string, FollowedObject<ConfigMap>>();
  readonly #secrets = new Map<string, FollowedObject<Secret>>();
  readonly #bundles = new Map<string, FollowedBundles>();
  /** By uid. */
  readonly #held = new Map<string, Held>();
  /** Those that are followed, or known for good. */
  readonly #active = new Set<Followed>();
  /** Those beyond the limit, in the order in which they came. */
  readonly #queued = new Set<Followed>();
  readonly #running = new Set<Promise<void>>();
  /** While the service runs. */
  #signal: AbortSignal | undefined;

  constructor(options: NodeObjectsOptions) {
    const { log, clock, maxObjects = defaultMaxObjects, maxBytes = defaultMaxBytes } = options;
    this.#options = options;
    this.#maxObjects = maxObjects;
    this.#maxBytes = maxBytes;
    this.#kept = new KeptBytes(maxBytes);
    this.#listeners = new Listeners('that an object has changed', log);
    this.#outage = createOutageLog('follow the ConfigMaps, Secrets and trust bundles of pods', clock, log);
  }

  /** How many are known or waited for. */
  get size(): number {
    return this.#configMaps.size + this.#secrets.size + this.#bundles.size;
  }

  /** Of a service; ready at once, as the API need not be reachable. */
  readonly run: Service['run'] = async (signal, ready) => {
    this.#signal = signal;
    for (const each of this.#active) this.#follow(each);
    ready();
    await untilAborted(signal);
    this.#signal = undefined;
    await Promise.allSettled(this.#running);
  };

  hold(pod: Pod): void {
    const { uid = '', namespace = '' } = pod.metadata ?? {};
    const { named: before, further = new Set<Followed>() } = this.#held.get(uid) ?? {};
    const named = new Set(this.#followedOf(pod, namespace));
    this.#held.set(uid, { named, further });
    for (const each of named) if (before?.has(each) !== true) this.#takeUp(each, uid);
    for (const each of before ?? []) if (!named.has(each) && !further.has(each)) this.#letGo(each, uid);
  }

  follow(podUid: string, name: ObjectName): void {
    const held = this.#held.get(podUid);
    if (held === undefined) return;
    const object = this.#findNamed(name);
    held.further.add(object);
    const isRefused = object instanceof FollowedObject && object.known.state === 'refused';
    if (!object.holders.has(podUid) || isRefused) this.#takeUp(object, podUid);
  }

  release(podUid: string): void {
    const { named = [], further = [] } = this.#held.get(podUid) ?? {};
    this.#held.delete(podUid);
    for (const each of new Set([...named, ...further])) this.#letGo(each, podUid);
  }

  configMap(namespace: string, name: string): Known<ConfigMap> {
    return this.#knownOf(this.#configMaps, { kind: 'ConfigMap', namespace, name }, ({ known }) => known);
  }

  secret(namespace: string, name: string): Known<Secret> {
    return this.#knownOf(this.#secrets, { kind: 'Secret', namespace, name }, ({ known }) => known);
  }

  trustAnchors(choice: BundleChoice): Known<TrustAnchors> {
    return this.#knownOf(this.#bundles, bundleName(nameOfChoice(choice)), (bundles) => bundles.known(choice));
  }

  onChange(listener: (name: ObjectName, podUids: ReadonlySet<string>) => void): Disposable {
    return this.#listeners.add(listener);
  }

  *#followedOf(pod: Pod, namespace: string): Iterable<Followed> {
    for (const { resource, name } of listPodReferences(pod)) {
      if (resource === 'configmaps') yield this.#findNamed({ kind: 'ConfigMap', namespace, name });
      if (resource === 'secrets') yield this.#findNamed({ kind: 'Secret', namespace, name });
    }
    for (const name of listBundleNames(pod)) yield this.#findNamed(bundleName(name));
  }

  #findNamed(name: ObjectName): Followed {
    switch (name.kind) {
      case 'ConfigMap':
        return this.#find(
          this.#configMaps,
          name,
          (more) => new FollowedObject({ ...more, kind: configMapKind }),
        );
      case 'Secret':
        return this.#find(this.#secrets, name, (more) => new FollowedObject({ ...more, kind: secretKind }));
      case 'ClusterTrustBundle':
        return this.#find(this.#bundles, name, (more) => new FollowedBundles(more));
    }
  }

  #find<T extends Followed>(known: Map<string, T>, name: ObjectName, make: (options: FollowOptions) => T): T {
    const found = known.get(keyOf(name));
    if (found !== undefined) return found;
    const { api, clock, random = Math.random } = this.#options;
    const made: T = make({
      ...{ api, name, clock, random, starts: this.#starts },
      keep: (bytes) => this.#keep(made, bytes),
      onChange: () => this.#listeners.notify(name, made.holders),
      onAnswer: () => this.#outage.succeeded(),
      onFailure: (error) => this.#fail(name, error),
    });
    known.set(keyOf(name), made);
    return made;
  }

  #knownOf<F extends Followed, T>(
    table: ReadonlyMap<string, F>,
    name: ObjectName,
    read: (followed: F) => Known<T>,
  ): Known<T> {
    const found = table.get(keyOf(name));
    const what = `${name.kind} ${JSON.stringify(name.name)}`;
    if (found === undefined) return waiting(`the ${what} is named by no pod that this node has taken up`);
    if (!this.#queued.has(found)) return read(found);
    const limit = `${this.#maxObjects} ConfigMaps, Secrets and trust bundles`;
    const message = `this node reads at most ${limit}: the ${what} is read when fewer are named`;
    return { state: 'refused', message };
  }

  /** Returns why it is not kept: then it is read again once others need less. */
  #keep(object: Followed, bytes: number): string | undefined {
    if (!this.#active.has(object)) return undefined; // an answer that came after its last pod had gone
    const isKept = this.#kept.take(object, bytes);
    this.#readFitting();
    if (isKept) return undefined;
    const { kind, name } = object.name;
    const what = `the ${kind} ${JSON.stringify(name)}, which has ${bytes} bytes`;
    return `this node keeps at most ${this.#maxBytes / mib} MiB of ConfigMaps, Secrets and trust bundles, and has no room for ${what}: it is read again when others need less`;
  }

  #readFitting(): void {
    for (const object of this.#kept.takeFitting()) {
      object.stop();
      this.#follow(object);
    }
  }

  /** A refusal is one object's, and stands in the status of the pods that name it. */
  #fail({ kind, namespace, name }: ObjectName, error: unknown): void {
    if (error instanceof StatusError)
      this.#options.log.debug(`the API does not show ${kind} ${namespace}/${name}: ${describeError(error)}`);
    else this.#outage.failed(error);
  }

  /**
   * One pod more names it. What was refused may be allowed now; what is immutable, and not watched, may have been made again
   * since, so it is read again.
   */
  #takeUp(object: Followed, uid: string): void {
    object.holders.add(uid);
    if (object.wake() || this.#queued.has(object)) return;
    if (this.#active.has(object) || this.#active.size < this.#maxObjects) this.#follow(object);
    else this.#queued.add(object);
  }

  #letGo(object: Followed, uid: string): void {
    object.holders.delete(uid);
    if (object.holders.size > 0) return;
    object.stop();
    this.#tableOf(object.name).delete(keyOf(object.name));
    this.#active.delete(object);
    this.#kept.forget(object);
    this.#readFitting();
    if (this.#queued.delete(object)) return;
    const [next] = this.#queued;
    if (next === undefined) return;
    this.#queued.delete(next);
    this.#follow(next);
  }

  #tableOf({ kind }: ObjectName): Map<string, Followed> {
    if (kind === 'ConfigMap') return this.#configMaps;
    return kind === 'Secret' ? this.#secrets : this.#bundles;
  }

  #follow(object: Followed): void {
    this.#active.add(object);
    if (this.#signal === undefined) return;
    const running: Promise<void> = object.follow(this.#signal).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}

function listBundleNames({ spec: { volumes = [] } = { containers: [] } }: Pod): string[] {
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? []);
  return sources.flatMap(({ clusterTrustBundle }) => {
    const { name, signerName } = clusterTrustBundle ?? {};
    return name ?? signerName ?? [];
  });
}

const nameOfChoice = (choice: BundleChoice) => ('name' in choice ? choice.name : choice.signerName);

const bundleName = (name: string): ObjectName => ({ kind: 'ClusterTrustBundle', namespace: '', name });

const keyOf = ({ namespace, name }: Pick<ObjectName, 'namespace' | 'name'>) => `${namespace}/${name}`;

const waiting = (message: string): Known<never> => ({ state: 'waiting', message });

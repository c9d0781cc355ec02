import type { NodeObjectsOptions } from '../../../../src/agent/objects/index.ts';
import type { ApiObject, ListOf } from '../../../../src/api/index.ts';
import { StatusError } from '../../../../src/api/index.ts';
import type { ListOptions, WatchEvent, WatchOptions } from '../../../../src/client/index.ts';
import { ConnectionError } from '../../../../src/client/index.ts';

type Stored = ApiObject & {
  readonly data?: Record<string, string>;
  readonly immutable?: boolean;
  readonly spec?: { readonly signerName?: string; readonly trustBundle: string };
};
type Event = WatchEvent<Stored>;

interface Watch {
  readonly key: string;
  readonly events: Event[];
  failure: Error | undefined;
  wake(): void;
}

/** ConfigMaps and Secrets of an API server in memory, which can be away, refuse, and forget its history. */
export class FakeApi {
  readonly asked: string[] = [];
  readonly #objects = new Map<string, Stored>();
  readonly #watches = new Set<Watch>();
  #version = 10;
  /** Thrown for every list and watch that begins. */
  failure: Error | undefined;
  /** Thrown for those of `secrets shop/s` and so on. */
  readonly refused = new Map<string, Error>();
  /** While set, lists wait for it. */
  gate: Promise<void> | undefined;
  listsUnderWay = 0;
  mostListsAtOnce = 0;

  get watching(): string[] {
    return [...this.#watches].map(({ key }) => key).sort();
  }

  put(key: string, more: Partial<Stored>): void {
    const before = this.#objects.get(key);
    this.#version += 1;
    const [resource = '', path = ''] = key.split(' ');
    const [namespace = '', name = ''] = path.split('/');
    const kind = kinds[resource] ?? 'ConfigMap';
    const metadata = { namespace, name, resourceVersion: String(this.#version), ...more.metadata };
    const object: Stored = { kind, apiVersion: 'v1', ...more, metadata };
    this.#objects.set(key, object);
    this.#send(key, { type: before === undefined ? 'ADDED' : 'MODIFIED', object });
  }

  delete(key: string): void {
    const before = this.#objects.get(key);
    if (before === undefined) throw new Error(`there is no ${key}`);
    this.#version += 1;
    this.#objects.delete(key);
    const metadata = { ...before.metadata, resourceVersion: String(this.#version) };
    this.#send(key, { type: 'DELETED', object: { ...before, metadata } });
  }

  /** All watches break. */
  breakWatches(failure: Error = new ConnectionError('broken', 'the connection broke')): void {
    for (const watch of this.#watches) {
      watch.failure = failure;
      watch.wake();
    }
  }

  #send(key: string, event: Event): void {
    for (const watch of this.#watches) {
      if (!isOf(watch.key, key, event.object)) continue;
      watch.events.push(event);
      watch.wake();
    }
  }

  /** The fake answers every kind with its own objects. */
  get api(): NodeObjectsOptions['api'] {
    const list = (kind: { resource: string }, options: ListOptions) => this.#list(keyOf(kind, options));
    const watch = (kind: { resource: string }, options: WatchOptions) =>
      this.#watch(keyOf(kind, options), options);
    return { list, watch } as unknown as NodeObjectsOptions['api'];
  }

  async #list(key: string): Promise<ListOf<Stored>> {
    this.asked.push(`list ${key}`);
    this.listsUnderWay += 1;
    this.mostListsAtOnce = Math.max(this.mostListsAtOnce, this.listsUnderWay);
    await this.gate;
    this.listsUnderWay -= 1;
    this.#check(key);
    const items = [...this.#objects].filter((each) => isOf(key, ...each)).map(([, object]) => object);
    return { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: String(this.#version) }, items };
  }

  async *#watch(key: string, options: WatchOptions): AsyncGenerator<Event, void, undefined> {
    const { resourceVersion, signal, onOpened } = options;
    this.asked.push(`watch ${key} from ${resourceVersion}`);
    this.#check(key);
    let waker = Promise.withResolvers<void>();
    const watch: Watch = { key, events: [], failure: undefined, wake: () => waker.resolve() };
    for (const [at, missed] of this.#objects)
      if (isOf(key, at, missed) && Number(missed.metadata?.resourceVersion) > Number(resourceVersion))
        watch.events.push({ type: 'MODIFIED', object: missed });
    signal?.addEventListener('abort', () => waker.resolve());
    this.#watches.add(watch);
    onOpened?.();
    try {
      while (signal?.aborted !== true) {
        yield* watch.events.splice(0);
        if (watch.failure !== undefined) throw watch.failure;
        await waker.promise;
        waker = Promise.withResolvers<void>();
      }
    } finally {
      this.#watches.delete(watch);
    }
  }

  #check(key: string): void {
    const failure = this.failure ?? this.refused.get(key);
    if (failure !== undefined) throw failure;
  }
}

const kinds: Readonly<Record<string, string>> = {
  secrets: 'Secret',
  clustertrustbundles: 'ClusterTrustBundle',
};

/** Whether the object at `key` is what was asked for: by its name, or by its signer. */
function isOf(asked: string, key: string, { spec }: Stored): boolean {
  return asked === key || asked === `clustertrustbundles /spec.signerName=${spec?.signerName}`;
}

const keyOf = ({ resource }: { resource: string }, { namespace, fieldSelector }: ListOptions) =>
  `${resource} ${namespace ?? ''}/${fieldSelector?.replace('metadata.name=', '')}`;

export const away = new ConnectionError('refused', 'nothing listens there');
export const forbidden = (what: string) =>
  new StatusError('Forbidden', `${what} is forbidden`, { code: 403 });
export const expired = new StatusError('Expired', 'too old resource version', { code: 410 });

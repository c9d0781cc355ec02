import type { ConfigMap, Kind, Secret } from '../../api/index.ts';
import { StatusError } from '../../api/index.ts';
import type { Clock, Semaphore } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { ObjectFollower } from '../../client/index.ts';
import type { Known, ObjectName } from './types.ts';

export interface FollowOptions {
  readonly api: Pick<ApiClient, 'list' | 'watch'>;
  readonly name: ObjectName;
  readonly starts: Semaphore;
  /** Asks to keep so many bytes of values in place of what was kept; returns why that is not possible. */
  keep(bytes: number): string | undefined;
  /** Called when another state is known, or other values. */
  onChange(): void;
  /** The API has answered, or has not. */
  onAnswer(): void;
  onFailure(error: unknown): void;
  readonly clock: Clock;
  readonly random: () => number;
}

export interface FollowedObjectOptions<T extends ConfigMap | Secret> extends FollowOptions {
  readonly kind: Kind<T>;
}

/** Seldom opened again: a node has hundreds of these watches. */
export const maxWatchSeconds = 3600;

/** One object by its name, which is what a node may list and watch; also while there is none. */
export class FollowedObject<T extends ConfigMap | Secret> {
  readonly #options: FollowedObjectOptions<T>;
  /** The uids of the pods that name it. */
  readonly holders = new Set<string>();
  #known: Known<T>;
  /** While it is followed. */
  #following: { readonly end: AbortController; readonly follower: ObjectFollower<T> } | undefined;

  constructor(options: FollowedObjectOptions<T>) {
    const { kind, name } = options.name;
    this.#options = options;
    const message = `the API has not told yet whether there is a ${kind} ${JSON.stringify(name)}`;
    this.#known = { state: 'waiting', message };
  }

  get name(): ObjectName {
    return this.#options.name;
  }

  get known(): Known<T> {
    return this.#known;
  }

  /** Resolves when it is stopped, when `signal` aborts, or when it is known for good. Never rejects. */
  async follow(signal: AbortSignal): Promise<void> {
    if (this.#following !== undefined) return;
    const { api, kind, name, starts, clock, random, onAnswer } = this.#options;
    const end = new AbortController();
    const follower = new ObjectFollower<T>({
      ...{ api, kind, starts, clock, random, onAnswer, maxWatchSeconds, maxObjects: 1 },
      namespace: name.namespace,
      fieldSelector: `metadata.name=${name.name}`,
      onList: (objects) => this.#take(objects.find((each) => this.#isIt(each))),
      onChange: (type, object) => {
        if (this.#isIt(object)) this.#take(type === 'DELETED' ? undefined : object);
      },
      onFailure: (error) => this.#fail(error),
    });
    this.#following = { end, follower };
    await follower.run(AbortSignal.any([signal, end.signal]));
    if (this.#following?.end === end) this.#following = undefined;
  }

  /** Asks the API at once, if it waits after a failure. Returns whether it is followed at all. */
  wake(): boolean {
    this.#following?.follower.wake();
    return this.#following !== undefined;
  }

  stop(): void {
    this.#following?.end.abort();
    this.#following = undefined;
  }

  #isIt({ metadata }: T): boolean {
    return metadata?.name === this.name.name;
  }

  #take(object: T | undefined): void {
    const kept = object && lean(object);
    const why = this.#options.keep(kept === undefined ? 0 : Buffer.byteLength(JSON.stringify(kept)));
    if (why !== undefined) this.#set({ state: 'refused', message: why });
    else this.#set(kept === undefined ? { state: 'absent' } : { state: 'present', object: kept });
    if (object?.immutable === true) this.stop();
  }

  /** What was known stays. */
  #fail(error: unknown): void {
    this.#options.onFailure(error);
    const { kind, name } = this.name;
    if (this.#known.state === 'present' || this.#known.state === 'absent') return;
    const why = describeError(error);
    const isRefused = error instanceof StatusError && error.reason === 'Forbidden';
    const message = `the API does not tell whether there is a ${kind} ${JSON.stringify(name)}: ${why}`;
    this.#set(isRefused ? { state: 'refused', message: why } : { state: 'waiting', message });
  }

  #set(known: Known<T>): void {
    const before = this.#known;
    this.#known = known;
    if (!isSame(before, known)) this.#options.onChange();
  }
}

/** Without what nobody here reads, which may be larger than the values. */
function lean<T extends ConfigMap | Secret>(object: T): T {
  const { managedFields: _fields, annotations: _annotations, ...metadata } = object.metadata ?? {};
  return { ...object, metadata };
}

/** Whether pods see no difference: some objects are written every few seconds with nothing but another annotation. */
function isSame<T extends ConfigMap | Secret>(before: Known<T>, now: Known<T>): boolean {
  if (before.state === 'present' && now.state === 'present')
    return JSON.stringify(valuesOf(before.object)) === JSON.stringify(valuesOf(now.object));
  if (before.state === 'refused' && now.state === 'refused') return before.message === now.message;
  return before.state === now.state;
}

function valuesOf(object: ConfigMap | Secret): unknown {
  const { data = {} } = object;
  return [data, 'binaryData' in object ? object.binaryData : {}];
}

import type { ClusterTrustBundle } from '../../api/index.ts';
import { clusterTrustBundleKind, StatusError } from '../../api/index.ts';
import { BoundedMap, describeError } from '../../base/index.ts';
import { ObjectFollower } from '../../client/index.ts';
import type { FollowOptions } from './followed-object.ts';
import { maxWatchSeconds } from './followed-object.ts';
import type { BundleChoice, TrustAnchors, TrustBundle } from './trust-anchors.ts';
import { mergeBundles, toTrustBundle } from './trust-anchors.ts';
import type { Known, ObjectName } from './types.ts';

/** Of all bundles of one signer: more is not for the memory of a node. One bundle has at most one MiB. */
const maxBytes = 8 * 1024 * 1024;
/** Beyond that they are read again after this time. */
const lookAgainMs = 60_000;
/** Each may have a MiB. */
const pageSize = 16;
const maxBundles = 20_000;
/** Different selectors of the pods of a node, for which the merged certificates are kept. */
const maxMerged = 16;

type State = Exclude<Known<never>, { state: 'present' }> | { readonly state: 'present' };

/** While they are followed. */
interface Following {
  readonly end: AbortController;
  follower?: ObjectFollower<ClusterTrustBundle>;
}

/** The ClusterTrustBundle of one name, or all of one signer; also while there is none. */
export class FollowedBundles {
  readonly #options: FollowOptions;
  /** The uids of the pods that name it. */
  readonly holders = new Set<string>();
  readonly #bundles = new Map<string, TrustBundle>();
  /** By selector. */
  #merged = noneMerged();
  /** Present as soon as the API has answered; absent where it does not know the kind. */
  #state: State;
  #following: Following | undefined;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#state = { state: 'waiting', message: `the API has not told yet which ${this.#what} there are` };
  }

  get name(): ObjectName {
    return this.#options.name;
  }

  known(choice: BundleChoice): Known<TrustAnchors> {
    if (this.#state.state !== 'present') return this.#state;
    const key = 'name' in choice ? '' : (JSON.stringify(choice.labelSelector) ?? 'none');
    const merged = this.#merged.use(key) ?? mergeBundles(this.#bundles.values(), choice);
    this.#merged.set(key, merged);
    return { state: 'present', object: merged };
  }

  /** Resolves when it is stopped, or when `signal` aborts. Never rejects. */
  async follow(signal: AbortSignal): Promise<void> {
    if (this.#following !== undefined) return;
    const end = new AbortController();
    const following: Following = { end };
    this.#following = following;
    const until = AbortSignal.any([signal, end.signal]);
    while (!until.aborted) {
      await this.#followOnce(following, until);
      if (!until.aborted) await this.#options.clock.sleep(lookAgainMs, until);
    }
    if (this.#following === following) this.#following = undefined;
  }

  /** Asks the API at once, if it waits after a failure. Returns whether it is followed at all. */
  wake(): boolean {
    this.#following?.follower?.wake();
    return this.#following !== undefined;
  }

  stop(): void {
    this.#following?.end.abort();
    this.#following = undefined;
  }

  /** Until there are too many. */
  async #followOnce(following: Following, signal: AbortSignal): Promise<void> {
    const { api, starts, clock, random, onAnswer, name } = this.#options;
    const full = new AbortController();
    const until = AbortSignal.any([signal, full.signal]);
    const settle = (isNews: boolean) => {
      if (this.#settle(isNews)) full.abort();
    };
    const follower = new ObjectFollower<ClusterTrustBundle>({
      ...{ api, starts, clock, random, onAnswer, maxWatchSeconds, pageSize },
      kind: clusterTrustBundleKind,
      fieldSelector: `${name.name.includes('/') ? 'spec.signerName' : 'metadata.name'}=${name.name}`,
      maxObjects: maxBundles,
      isEnough: (objects) => objects.reduce((sum, { spec }) => sum + sizeOf(spec), 0) > maxBytes,
      onList: (objects) => settle(this.#takeAll(objects)),
      onChange: (type, object) => settle(this.#take(type, toTrustBundle(object))),
      onFailure: (error) => this.#fail(error),
    });
    following.follower = follower;
    await follower.run(until);
  }

  #takeAll(objects: readonly ClusterTrustBundle[]): boolean {
    const before = new Set(this.#bundles.keys());
    let isNews = false;
    for (const object of objects) {
      const bundle = toTrustBundle(object);
      before.delete(bundle.name);
      isNews = this.#take('MODIFIED', bundle) || isNews;
    }
    for (const name of before) this.#bundles.delete(name);
    return isNews || before.size > 0;
  }

  /** Returns whether pods see a difference. */
  #take(type: 'ADDED' | 'MODIFIED' | 'DELETED', bundle: TrustBundle): boolean {
    if (type === 'DELETED') return this.#bundles.delete(bundle.name);
    const before = this.#bundles.get(bundle.name);
    this.#bundles.set(bundle.name, bundle);
    return before === undefined || !isSame(before, bundle);
  }

  /** Returns whether there are too many, or there is no room for them. */
  #settle(isNews: boolean): boolean {
    this.#merged = noneMerged();
    const total = [...this.#bundles.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const isTooMuch = total > maxBytes;
    const why = this.#options.keep(isTooMuch ? 0 : total);
    const message = isTooMuch
      ? `the ${this.#what} have more than ${maxBytes / 1024 / 1024} MiB, which no pod of this node gets`
      : why;
    if (message !== undefined) this.#bundles.clear();
    this.#set(message === undefined ? { state: 'present' } : { state: 'refused', message }, isNews);
    return message !== undefined;
  }

  /** What was known stays. */
  #fail(error: unknown): void {
    this.#options.onFailure(error);
    if (this.#state.state === 'present') return;
    const why = describeError(error);
    const reason = error instanceof StatusError ? error.reason : undefined;
    const message = `the API does not tell which ${this.#what} there are: ${why}`;
    if (reason === 'NotFound') this.#set({ state: 'absent' });
    else if (reason === 'Forbidden') this.#set({ state: 'refused', message: why });
    else this.#set({ state: 'waiting', message });
  }

  #set(state: State, isNews = false): void {
    const before = this.#state;
    this.#state = state;
    const textOf = (known: State) => ('message' in known ? known.message : '');
    const isOther = before.state !== state.state || textOf(before) !== textOf(state);
    if (isNews || isOther) this.#options.onChange();
  }

  get #what(): string {
    const { name } = this.name;
    return `ClusterTrustBundles ${name.includes('/') ? 'of the signer' : 'of the name'} ${JSON.stringify(name)}`;
  }
}

const noneMerged = () => new BoundedMap<string, TrustAnchors>({ maxEntries: maxMerged });

function sizeOf(spec: ClusterTrustBundle['spec'] | undefined): number {
  return spec?.trustBundle?.length ?? 0;
}

function isSame(before: TrustBundle, now: TrustBundle): boolean {
  const partsOf = ({ labels, certificates }: TrustBundle) => JSON.stringify([labels, certificates]);
  return partsOf(before) === partsOf(now);
}

import { randomUUID } from 'node:crypto';
import type { ApiObject, Kind, ResourceQuota } from '../../../api/index.ts';
import { qualifiedResource, resourceQuotaKind, StatusError } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import type { CachedStore, Revision, Stored } from '../../storage/index.ts';
import { isReadable } from '../../storage/index.ts';
import { confirm } from '../confirm.ts';
import { createUnreadableError } from '../unreadable.ts';
import { storageFailure } from '../write/storage-failure.ts';
import { amountsOf, quantitiesOf } from './amounts.ts';
import { QuotaCensus } from './census.ts';
import type { Measured } from './demand.ts';
import { demandOf, findExcess } from './demand.ts';
import type { StoredKind } from './stored-kind.ts';
import type { UnderWay } from './under-way.ts';
import { isDecided, readUnderWay, withUnderWay } from './under-way.ts';
import { addAll, isCharged, usageOf } from './usage.ts';

/*
 * No object is written before the quotas of its namespace have been charged for it, in their status, under their resourceVersion:
 *
 *     wait ──► charge each quota (status.used += what it takes, and the write is noted as under way) ──► write ──► settled
 *
 * The invariant: status.used ≥ what the stored objects take + what is under way. A charge keeps it, because it adds to both
 * sides. `status.used` goes down only by a census: memory is a state that the store had, at or after the quota's revision; the
 * sum of its objects and of the noted writes that are still undecided in it replaces `used`, if the quota has not changed since.
 * A charge in between changes it, and a write that was charged before is an object already or still noted. So a census may be
 * taken by any server at any time, and nothing that failed or was deleted stays charged for ever. A note is gone when its server
 * says that the write has ended, or `forgetMs` after a server saw it first, when its own server must have died.
 *
 * Of the writes that wait for a quota all are charged together. A write that would exceed a quota is refused only after a
 * census of the newest state: what was given back counts at once.
 */

/** A write that may be under way for no longer than half of this. */
const forgetMs = 60_000;

/** How often a charge is tried before it fails because other servers came first. */
const attempts = 50;

/** How long after a write has ended its note is removed, when no other charge does it. */
const tidyMs = 500;

/** Notes whose age is remembered before old ones are looked for. */
const maxObserved = 10_000;

export interface LedgerOptions {
  storage: CachedStore;
  quotas(): StoredKind<ResourceQuota>;
  /** Those that are stored in namespaces. */
  resources(): readonly StoredKind[];
  clock: Clock;
  groupSuffix: string;
}

/** A write that is about to be done. */
export interface ChargedWrite {
  kind: Kind;
  namespace: string;
  name: string;
  key: string;
  next: ApiObject;
  old: ApiObject | undefined;
  /** The revision that the write expects; 0: that there is no such object. */
  from: Revision;
  subresource: string;
  isDryRun: boolean;
}

/** What was taken for a write. To be disposed of when the write has ended, done or not. */
export interface Charge extends Disposable {
  /** Throws ServiceUnavailable when the write was not begun in time. */
  checkAge(): void;
  /** It is not known whether the write was done: it counts until that is seen, or is forgotten. */
  keep(): void;
}

interface Waiting extends Measured {
  readonly write: ChargedWrite;
  readonly ids: string[];
  readonly answer: PromiseWithResolvers<void>;
}

interface Plan {
  readonly used: Map<string, bigint>;
  readonly added: readonly { readonly waiting: Waiting; readonly note: UnderWay }[];
  readonly refused: ReadonlyMap<Waiting, StatusError>;
}

/** What the quotas of all namespaces have been charged for. */
export class QuotaLedger {
  readonly #options: LedgerOptions;
  readonly #census: QuotaCensus;
  readonly #server = randomUUID();
  #count = 0;
  /** By namespace, how many quotas there are. */
  readonly #quotas = new Map<string, number>();
  readonly #waiting = new Map<string, Waiting[]>();
  /** Ids of own writes that have not ended. */
  readonly #open = new Set<string>();
  /** Ids of own writes of which it is not known whether they were done. */
  readonly #unknown = new Set<string>();
  /** When notes of other servers were first seen, by the monotonic clock. */
  readonly #observed = new Map<string, number>();
  readonly #tidying = new Set<string>();
  #isFollowing = false;

  constructor(options: LedgerOptions) {
    this.#options = options;
    const { storage, resources, groupSuffix, clock } = options;
    this.#census = new QuotaCensus({ storage, resources, groupSuffix, now: () => clock.now() });
  }

  /** Whether anything is limited in a namespace. */
  hasQuotas(namespace: string): boolean {
    this.#follow();
    return this.#quotas.has(namespace);
  }

  /**
   * Charges what a write takes; undefined when no quota is concerned. Rejects with Forbidden when a quota does not allow it. A
   * dry run is checked and not charged.
   */
  charge(write: ChargedWrite): Promise<Charge> | undefined {
    if (!this.hasQuotas(write.namespace)) return undefined;
    if (!isCharged(write.kind, write.old === undefined, write.subresource)) return undefined;
    return this.#charge(write);
  }

  /** Makes the status of the quotas of a namespace agree with its objects. Rejects with what the store says. */
  async recount(namespace: string): Promise<void> {
    for (const key of this.#quotaKeys(namespace)) await this.#recountOne(key);
  }

  async #charge(write: ChargedWrite): Promise<Charge> {
    const { clock, groupSuffix } = this.#options;
    const beganMs = clock.monotonicMs();
    const usage = (object: ApiObject) => usageOf(write.kind, object, groupSuffix, clock.now());
    const { kind, next, old } = write;
    const waiting: Waiting = {
      ...{ kind, next, usage: usage(next), write, ids: [] },
      old: old && { object: old, usage: usage(old) },
      answer: Promise.withResolvers<void>(),
    };
    this.#enqueue(write.namespace, waiting);
    await waiting.answer.promise;
    return {
      checkAge() {
        if (clock.monotonicMs() - beganMs < forgetMs / 2) return;
        throw retry('charging the quotas of its namespace took too long; nothing was changed');
      },
      keep: () => this.#keep(waiting),
      [Symbol.dispose]: () => this.#settle(write.namespace, waiting),
    };
  }

  #enqueue(namespace: string, waiting: Waiting): void {
    const others = this.#waiting.get(namespace);
    if (others !== undefined) {
      others.push(waiting);
      return;
    }
    this.#waiting.set(namespace, [waiting]);
    void this.#serve(namespace);
  }

  /** In rounds: all that have come meanwhile are charged together. */
  async #serve(namespace: string): Promise<void> {
    await Promise.resolve();
    for (;;) {
      const round = this.#waiting.get(namespace) ?? [];
      if (round.length === 0) break;
      this.#waiting.set(namespace, []);
      try {
        let left: readonly Waiting[] = round;
        for (const key of this.#quotaKeys(namespace)) left = await this.#chargeTo(key, left);
        for (const { answer } of left) answer.resolve();
      } catch (error) {
        for (const waiting of round) this.#refuse(waiting, error);
      }
    }
    this.#waiting.delete(namespace);
  }

  #refuse(waiting: Waiting, error: unknown): void {
    this.#settle(waiting.write.namespace, waiting);
    waiting.answer.reject(error);
  }

  /** Returns those that the quota allows; the others are refused. */
  async #chargeTo(key: string, all: readonly Waiting[]): Promise<readonly Waiting[]> {
    const { storage } = this.#options;
    let isNewest = storage.shared !== true;
    for (let attempt = 1; attempt <= attempts && all.length > 0; attempt++) {
      const stored = this.#find(key);
      if (stored === undefined) return all;
      const quota = this.#options.quotas().encoding.read(stored);
      let plan = this.#plan(quota, amountsOf(quota.status?.used), all);
      if (plan.refused.size > 0 && !isNewest) {
        await confirm(storage, storage.applied);
        isNewest = true;
        continue;
      }
      if (plan.refused.size > 0) plan = this.#plan(quota, this.#counted(quota), all);
      if (plan.added.length > 0 && !(await this.#note(stored, quota, plan))) continue;
      for (const [waiting, error] of plan.refused) this.#refuse(waiting, error);
      return all.filter((waiting) => !plan.refused.has(waiting));
    }
    if (all.length === 0) return all;
    throw retry('the quotas of its namespace change too often; nothing was changed');
  }

  #plan(quota: ResourceQuota, base: ReadonlyMap<string, bigint>, all: readonly Waiting[]): Plan {
    const { groupSuffix } = this.#options;
    const used = new Map(base);
    const added: { waiting: Waiting; note: UnderWay }[] = [];
    const refused = new Map<Waiting, StatusError>();
    for (const waiting of all) {
      const demand = demandOf(quota, used, waiting, groupSuffix);
      const refusal = 'why' in demand ? demand : findExcess(quota, used, demand);
      if (refusal !== undefined) {
        refused.set(waiting, forbidden(waiting.write, refusal.why, groupSuffix));
        continue;
      }
      if ('why' in demand || demand.size === 0 || waiting.write.isDryRun) continue;
      addAll(used, demand);
      const { key, from, next } = waiting.write;
      const uid = from === 0 ? next.metadata?.uid : undefined;
      const id = `${this.#server}/${++this.#count}`;
      added.push({ waiting, note: { id, key, from, ...(uid && { uid }), used: quantitiesOf(demand) } });
    }
    return { used, added, refused };
  }

  /** Writes the charges into the quota; false when it was changed meanwhile. */
  async #note(stored: Stored, quota: ResourceQuota, { used, added }: Plan): Promise<boolean> {
    const notes = [...this.#undecided(quota), ...added.map(({ note }) => note)];
    for (const { note } of added) this.#open.add(note.id); // before anybody sees the note
    let isDone = false;
    try {
      isDone = await this.#write(stored, withUsed(withUnderWay(quota, notes), used));
    } finally {
      for (const { waiting, note } of added) {
        if (isDone) waiting.ids.push(note.id);
        else this.#open.delete(note.id);
      }
    }
    return isDone;
  }

  #keep({ ids }: Waiting): void {
    for (const id of ids.splice(0)) {
      this.#open.delete(id);
      this.#unknown.add(id);
    }
  }

  #settle(namespace: string, { ids }: Waiting): void {
    if (ids.length === 0) return;
    for (const id of ids) this.#open.delete(id);
    void this.#tidyLater(namespace);
  }

  /** Removes the notes of writes that have ended; failing to is no harm. */
  async #tidyLater(namespace: string): Promise<void> {
    if (this.#tidying.has(namespace)) return;
    this.#tidying.add(namespace);
    await this.#options.clock.sleep(tidyMs, this.#options.storage.failed);
    this.#tidying.delete(namespace);
    await this.recount(namespace).catch(() => undefined); // the controller recounts, too
  }

  async #recountOne(key: string): Promise<void> {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const stored = this.#find(key);
      if (stored === undefined) return;
      const quota = this.#options.quotas().encoding.read(stored);
      const next = this.#recounted(quota);
      if (next === undefined || (await this.#write(stored, next))) return;
    }
    throw new Error(`the quota ${key} changes too often to be recounted`);
  }

  /** Undefined when everything is as it should be. */
  #recounted(quota: ResourceQuota): ResourceQuota | undefined {
    const counted = this.#counted(quota);
    const before = amountsOf(quota.status?.used);
    const hard = quota.spec?.hard ?? {};
    const notes = this.#undecided(quota);
    const isSame =
      notes.length === readUnderWay(quota).length &&
      areSame(counted, before) &&
      areSame(amountsOf(hard), amountsOf(quota.status?.hard));
    if (isSame) return undefined;
    const next = withUsed(withUnderWay(quota, notes), counted);
    return { ...next, status: { ...next.status, hard } };
  }

  /** What the objects take, and what is under way; not less than before when not all of them can be read. */
  #counted(quota: ResourceQuota): Map<string, bigint> {
    const namespace = quota.metadata?.namespace ?? '';
    const sum = this.#census.count(namespace, quota);
    for (const { used } of this.#undecided(quota))
      for (const [name, amount] of amountsOf(used)) if (sum.has(name)) addAll(sum, new Map([[name, amount]]));
    if (!this.#census.isUncertain(namespace, quota)) return sum;
    const before = amountsOf(quota.status?.used);
    const most = (name: string, amount: bigint) =>
      amount > (before.get(name) ?? 0n) ? amount : (before.get(name) ?? 0n);
    return new Map([...sum].map(([name, amount]) => [name, most(name, amount)]));
  }

  /** The noted writes that are not done and may still be. */
  #undecided(quota: ResourceQuota): UnderWay[] {
    const { storage } = this.#options;
    return readUnderWay(quota).filter((note) => {
      const { id } = note;
      if (isDecided(note, storage.lookup(note.key))) return false;
      if (this.#open.has(id)) return true;
      const mayBeDone = id.startsWith(this.#server) ? this.#unknown.has(id) : storage.shared === true;
      return mayBeDone && !this.#isForgotten(id);
    });
  }

  #isForgotten(id: string): boolean {
    const now = this.#options.clock.monotonicMs();
    const since = this.#observed.get(id) ?? now;
    this.#observed.set(id, since);
    if (this.#observed.size > maxObserved)
      for (const [each, since] of this.#observed) if (now - since > 2 * forgetMs) this.#forget(each);
    return now - since >= forgetMs;
  }

  #forget(id: string): void {
    this.#observed.delete(id);
    this.#unknown.delete(id);
  }

  async #write(stored: Stored, next: ResourceQuota): Promise<boolean> {
    const { storage, quotas } = this.#options;
    const value = quotas().encoding.encode(next);
    const outcome = await storage.commit({
      ...{ key: stored.key, expect: stored.revision, value, previous: stored },
    });
    if (outcome.ok || outcome.code === 'conflict') return outcome.ok;
    throw storageFailure(outcome.code, outcome.cause);
  }

  #quotaKeys(namespace: string): string[] {
    const { storage, quotas } = this.#options;
    const prefix = quotas().prefix(namespace);
    const unreadable = storage.unreadable(prefix).map(({ key }) => key);
    return [...new Set([...storage.list(prefix, '', 0).items.map(({ key }) => key), ...unreadable])];
  }

  #find(key: string): Stored | undefined {
    const { storage, quotas, groupSuffix } = this.#options;
    const state = storage.lookup(key);
    if (state === undefined || isReadable(state)) return state;
    throw createUnreadableError(resourceQuotaKind, groupSuffix, quotas().placeOf(key).name, state);
  }

  /** For as long as the storage lives; begun when first asked for. */
  #follow(): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    const quotas = this.#options.quotas();
    const count = (by: number) => (stored: Stored) => {
      const { namespace } = quotas.placeOf(stored.key);
      const left = (this.#quotas.get(namespace) ?? 0) + by;
      if (left > 0) this.#quotas.set(namespace, left);
      else this.#quotas.delete(namespace);
    };
    quotas.follow({ present: count(1), added: count(1), gone: count(-1) });
  }
}

function withUsed(quota: ResourceQuota, used: ReadonlyMap<string, bigint>): ResourceQuota {
  return { ...quota, status: { ...quota.status, used: quantitiesOf(used) } };
}

function areSame(a: ReadonlyMap<string, bigint>, b: ReadonlyMap<string, bigint>): boolean {
  return a.size === b.size && [...a].every(([name, amount]) => b.get(name) === amount);
}

function forbidden({ kind, name }: ChargedWrite, why: string, groupSuffix: string): StatusError {
  const resource = qualifiedResource(kind, groupSuffix);
  return new StatusError('Forbidden', `${resource} ${JSON.stringify(name)} is forbidden: ${why}`, {
    details: { name, kind: kind.resource },
  });
}

function retry(why: string): StatusError {
  return new StatusError('ServiceUnavailable', why, { details: { retryAfterSeconds: 1 } });
}

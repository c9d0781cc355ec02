import { setImmediate as turn } from 'node:timers/promises';
import type { Secret } from '../../../../../src/api/index.ts';
import { namespaceKind, resourceQuotaKind, StatusError, secretKind } from '../../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../../src/apiserver/authn/index.ts';
import { createRegistry } from '../../../../../src/apiserver/registry/index.ts';
import type { Outcome, Store, Write } from '../../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../../src/apiserver/storage/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import type { Random } from '../../../../support/repetition.ts';

const context = { user: controlPlaneUser, dryRun: false };
const namespace = 'n';

/** The store of one server of several: what it writes takes a while, before and after it is done. */
class ServersStore implements Store {
  readonly shared = true;
  readonly #store: Store;
  readonly #random: Random;
  /** Its machine fails just before it writes a secret. */
  isFailing = false;
  /** How the next writes of secrets end: written, but not answered. */
  isUnsure = false;

  constructor(store: Store, random: Random) {
    this.#store = store;
    this.#random = random;
  }

  get failed(): AbortSignal {
    return this.#store.failed;
  }

  async commit(write: Write): Promise<Outcome> {
    const isSecret = write.key.includes('/secrets/');
    if (this.isFailing && isSecret) return await new Promise<never>(() => undefined);
    await this.#pause();
    const outcome = await this.#store.commit(write);
    await this.#pause();
    if (this.isUnsure && isSecret) return { ok: false, code: 'unknown', cause: new Error('lost') };
    return outcome;
  }

  async #pause(): Promise<void> {
    for (let turns = Math.floor(this.#random() * 6); turns > 0; turns--) await turn();
  }

  async *changes(...args: Parameters<Store['changes']>): ReturnType<Store['changes']> {
    for await (const batch of this.#store.changes(...args)) {
      await this.#pause();
      yield batch;
    }
  }

  revision = () => this.#store.revision();
  listAt = (...args: Parameters<Store['listAt']>) => this.#store.listAt(...args);
  foreignKeys = (...args: Parameters<Store['foreignKeys']>) => this.#store.foreignKeys(...args);
  compact = (...args: Parameters<Store['compact']>) => this.#store.compact(...args);
  close = async () => undefined;
  [Symbol.asyncDispose] = async () => undefined;
}

export type Answer = 'done' | 'refused' | 'unsure';

/** Several servers on one store, in a namespace with these quotas of secrets, by name. */
export async function startServers(count: number, random: Random, limits: Record<string, number>) {
  const clock = createManualClock();
  const store = await openStore({ kind: 'memory', clock });
  const truth = await createCache(store, { clock });
  const first = createRegistry({ storage: truth, clock, groupSuffix: 'k8s.io', admission: [] });
  await first.of(namespaceKind).create('', { metadata: { name: namespace } }, context);
  for (const [name, limit] of Object.entries(limits))
    await first
      .of(resourceQuotaKind)
      .create(namespace, { metadata: { name }, spec: { hard: { secrets: String(limit) } } }, context);
  await first.ledger?.recount(namespace);

  /** How many secrets there were at most at one time. */
  let [now, most] = [0, 0];
  first.of(secretKind).follow({
    added() {
      now++;
      most = Math.max(most, now);
    },
    gone: () => void now--,
  });

  async function startServer() {
    const own = new ServersStore(store, random);
    const storage = await createCache(own, { clock });
    const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
    const secrets = registry.of(secretKind);
    const answerOf = async (work: Promise<unknown>): Promise<Answer> => {
      try {
        await work;
        return 'done';
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        if (error.reason === 'Timeout') return 'unsure';
        if (['Forbidden', 'NotFound', 'AlreadyExists', 'Conflict'].includes(error.reason)) return 'refused';
        throw error;
      }
    };
    return {
      store: own,
      create: (name: string) =>
        answerOf(secrets.create(namespace, { metadata: { name } } satisfies Secret, context)),
      remove: (name: string) => answerOf(secrets.delete(namespace, name, {}, context)),
      recount: () => registry.ledger?.recount(namespace),
    };
  }

  const servers = await Promise.all(Array.from({ length: count }, startServer));
  const quotas = first.of(resourceQuotaKind);
  return {
    servers,
    clock,
    stored: () => now,
    most: () => most,
    /** By quota, how many secrets it says are used. */
    used: () =>
      Object.keys(limits).map((name) => {
        const quota = quotas.encoding.read(quotas.get(namespace, name));
        return Number(quota.status?.used?.['secrets']);
      }),
    /** Whether a quota names writes that are under way. */
    isNoted: () =>
      Object.keys(limits).some(
        (name) => quotas.encoding.read(quotas.get(namespace, name)).metadata?.annotations !== undefined,
      ),
  };
}

import type { ApiObject } from '../../../api/index.ts';
import { notFound, StatusError } from '../../../api/index.ts';
import type { CachedStore, Outcome, State, Stored } from '../../storage/index.ts';
import { isReadable } from '../../storage/index.ts';
import type { Charge } from '../quota/ledger.ts';
import type { WriteContext } from '../strategy.ts';
import { createUnreadableError } from '../unreadable.ts';
import { keyOf } from './keys.ts';
import type { Parts, Place } from './resource-parts.ts';
import { storageFailure } from './storage-failure.ts';

type Landed = Extract<Outcome, { ok: true } | { code: 'conflict' }>;

/** The stored object; throws NotFound, and UnreadableError for one that is there but cannot be read. */
export function getStored<T extends ApiObject>(parts: Parts<T>, { namespace, name }: Place): Stored {
  const state = parts.storage.lookup(keyOf(parts.kind, namespace, name));
  if (state === undefined) throw notFound(parts.kind, parts.groupSuffix, name);
  if (!isReadable(state)) throw createUnreadableError(parts.kind, parts.groupSuffix, name, state);
  return state;
}

/** Writes, or in a dry run returns what a write would have returned. Throws for every failure except a conflict. */
export function commit(
  { storage }: { storage: CachedStore },
  key: string,
  previous: Stored | undefined,
  value: Uint8Array | null,
  context: WriteContext,
): Landed | Promise<Landed> {
  if (context.dryRun) return pretend(storage, key, previous, value);
  return storage.commit({ key, expect: previous?.revision ?? 0, value, previous }).then(landed);
}

/** What is written in place of what. */
interface Replacement<T extends ApiObject> {
  key: string;
  /** What is there; undefined where the object is new. */
  previous: Stored | undefined;
  value: Uint8Array;
  next: T;
  old: T | undefined;
  subresource: string;
}

/** As `commit`, once the quotas of the namespace have been charged for it. Throws Forbidden when one does not allow it. */
export function commitCharged<T extends ApiObject>(
  parts: Parts<T>,
  { key, previous, value, next, old, subresource }: Replacement<T>,
  context: WriteContext,
): Landed | Promise<Landed> {
  const write = () => commit(parts, key, previous, value, context);
  const { ledger } = parts;
  const kind = parts.kind.storedAs?.kind ?? parts.kind;
  if (ledger === undefined || !kind.namespaced) return write();
  const { namespace = '', name = '' } = next.metadata ?? {};
  const from = previous?.revision ?? 0;
  const isDryRun = context.dryRun;
  const charging = ledger.charge({ kind, namespace, name, key, next, old, from, subresource, isDryRun });
  if (charging === undefined) return write();
  return commitOnce(charging, () => {
    if (old === undefined) parts.checkNamespace(namespace, parts.kind, name); // it may be going by now
    return write();
  });
}

async function commitOnce(charging: Promise<Charge>, write: () => Landed | Promise<Landed>): Promise<Landed> {
  using charge = await charging;
  charge.checkAge();
  try {
    return await write();
  } catch (error) {
    if (error instanceof StatusError && error.reason === 'Timeout') charge.keep();
    throw error;
  }
}

/** Takes a write back that cannot stay beside that of another server, and throws why. `value` is what was there before. */
export async function undoOvertaken<T extends ApiObject>(
  parts: Parts<T>,
  now: Stored,
  value: Uint8Array | null,
  context: WriteContext,
): Promise<void> {
  const error = context.dryRun ? undefined : parts.strategy.overtaken?.(now);
  if (error === undefined) return;
  await commit(parts, now.key, now, value, context);
  throw error;
}

function landed(outcome: Outcome): Landed {
  if (outcome.ok || outcome.code === 'conflict') return outcome;
  throw storageFailure(outcome.code, outcome.cause);
}

function pretend(
  storage: CachedStore,
  key: string,
  previous: Stored | undefined,
  value: Uint8Array | null,
): Landed {
  const now: State | null = storage.lookup(key) ?? null;
  const revision = storage.applied;
  if ((now?.revision ?? 0) !== (previous?.revision ?? 0))
    return { ok: false, code: 'conflict', now, revision };
  const createRevision = previous?.createRevision ?? revision;
  const pretended = value && { key, revision: previous?.revision ?? 0, createRevision, value };
  return { ok: true, revision, now: pretended };
}

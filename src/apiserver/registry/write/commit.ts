import type { ApiObject } from '../../../api/index.ts';
import { notFound, StatusError } from '../../../api/index.ts';
import type { CachedStore, FailureCode, Outcome, State, Stored } from '../../storage/index.ts';
import { isReadable, StorageError } from '../../storage/index.ts';
import type { WriteContext } from '../strategy.ts';
import { createUnreadableError } from '../unreadable.ts';
import { keyOf } from './keys.ts';
import type { Parts, Place } from './resource-parts.ts';

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

/** The error for the client when a commit failed other than by a conflict. */
function storageFailure(code: FailureCode, cause: Error): StatusError {
  switch (code) {
    case 'full':
      return retriable('the store has no room left on its disk; nothing was changed', cause);
    case 'unavailable':
      if (cause instanceof StorageError && cause.code === 'moved') return retriable(cause.message, cause);
      return retriable('the store cannot take writes now; nothing was changed', cause);
    case 'unknown':
      return new StatusError(
        'Timeout',
        'the store failed; whether the change was kept is not known: read it again',
        {
          details: { retryAfterSeconds: 1 },
          cause,
        },
      );
    case 'tooLarge':
      return new StatusError('RequestEntityTooLarge', `the object is too large: ${cause.message}`, { cause });
    case 'invalid':
      return new StatusError('BadRequest', `the object cannot be stored under this name: ${cause.message}`, {
        cause,
      });
  }
}

function retriable(message: string, cause: Error): StatusError {
  return new StatusError('ServiceUnavailable', message, { details: { retryAfterSeconds: 1 }, cause });
}

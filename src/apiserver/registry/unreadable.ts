import type { Kind } from '../../api/index.ts';
import { alreadyExists, notFound, qualifiedResource, StatusError } from '../../api/index.ts';
import type { Unreadable } from '../storage/index.ts';

/** Named in one message. */
const maxNamed = 10;

/** The error 500 for an object that is in the store and cannot be read, and so neither shown nor changed nor deleted. */
export class UnreadableError extends StatusError {}

export function createUnreadableError(
  kind: Kind,
  groupSuffix: string,
  name: string,
  { key, why }: Unreadable,
): UnreadableError {
  const object = `${qualifiedResource(kind, groupSuffix)} "${name}"`;
  const rest =
    'so it can be neither shown nor changed nor deleted here; have the program that wrote it store it again';
  const message = `${object} is in the store as ${key}, but cannot be read: ${why}; ${rest}`;
  return new UnreadableError('InternalError', message, detailsOf(kind, groupSuffix, name));
}

/** For a create: the name is taken. */
export function createTakenError(
  kind: Kind,
  groupSuffix: string,
  name: string,
  { key, why }: Unreadable,
): StatusError {
  const { message } = alreadyExists(kind, groupSuffix, name);
  const text = `${message}, but what is in the store as ${key} cannot be read: ${why}`;
  return new StatusError('AlreadyExists', text, detailsOf(kind, groupSuffix, name));
}

/** Refuses a list that would not be complete: its reader would take what is left out for deleted. */
export function refuseUnreadable(
  kind: Kind,
  groupSuffix: string,
  unreadable: readonly Unreadable[] = [],
): void {
  if (unreadable.length === 0) return;
  const named = unreadable.slice(0, maxNamed).map(({ key, why }) => `${key} (${why})`);
  const more = unreadable.length > maxNamed ? ` and ${unreadable.length - maxNamed} more` : '';
  const what = `${unreadable.length} of the ${qualifiedResource(kind, groupSuffix)} in the store cannot be read`;
  const why = 'a list without them would be taken for their deletion';
  throw new UnreadableError('InternalError', `${what}, and ${why}: ${named.join(', ')}${more}`);
}

function detailsOf(kind: Kind, groupSuffix: string, name: string) {
  const { details } = notFound(kind, groupSuffix, name);
  return details === undefined ? {} : { details };
}

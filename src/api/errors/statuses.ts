import type { ApiObject, Cause, Kind } from '../kinds/index.ts';
import { groupName } from '../kinds/index.ts';
import { StatusError } from './status-error.ts';

type Named = Pick<Kind<ApiObject>, 'group' | 'resource' | 'kind'>;

/** `leases.coordination.k8s.io`, or `nodes` for the core group. */
export function qualifiedResource(kind: Named, suffix: string): string {
  return kind.group === '' ? kind.resource : `${kind.resource}.${groupName(kind.group, suffix)}`;
}

function detailsOf(kind: Named, suffix: string, name: string) {
  const group = groupName(kind.group, suffix);
  return { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: kind.resource };
}

export function notFound(kind: Named, suffix: string, name: string): StatusError {
  return new StatusError('NotFound', `${qualifiedResource(kind, suffix)} "${name}" not found`, {
    details: detailsOf(kind, suffix, name),
  });
}

export function alreadyExists(kind: Named, suffix: string, name: string): StatusError {
  return new StatusError('AlreadyExists', `${qualifiedResource(kind, suffix)} "${name}" already exists`, {
    details: detailsOf(kind, suffix, name),
  });
}

export function conflict(kind: Named, suffix: string, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedResource(kind, suffix)} "${name}": ${why}`;
  return new StatusError('Conflict', message, { details: detailsOf(kind, suffix, name) });
}

/** Refuses a create in a namespace that is being deleted. */
export function namespaceTerminating(
  kind: Named,
  suffix: string,
  namespace: string,
  name: string,
): StatusError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  const message = `${qualifiedResource(kind, suffix)} "${name}" is forbidden: ${why}`;
  return new StatusError('Forbidden', message, {
    details: { ...detailsOf(kind, suffix, name), causes: [cause] },
  });
}

/** How many causes are reported; a large body can have a million. */
const causesLimit = 100;

/** 422 with every cause, or the first hundred. */
export function invalid(
  kind: Omit<Named, 'resource'>,
  suffix: string,
  name: string,
  causes: readonly Cause[],
): StatusError {
  const group = groupName(kind.group, suffix);
  const reported = causes.slice(0, causesLimit);
  const listed = reported.map(({ field, message }) => `${field}: ${message}`);
  if (reported.length < causes.length) listed.push(`and ${causes.length - reported.length} more`);
  const text = listed.length === 1 ? listed[0] : `[${listed.join(', ')}]`;
  const subject = group === '' ? kind.kind : `${kind.kind}.${group}`;
  return new StatusError('Invalid', `${subject} "${name}" is invalid: ${text}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(group === '' ? {} : { group }),
      kind: kind.kind,
      causes: reported.map(({ reason, message, field }) => ({ reason, message, field })),
    },
  });
}

export interface Denied {
  user: string;
  verb: string;
  /** Why, where the authorizer gives a reason. */
  reason?: string;
}

/** What a user may not use; it need not be served. */
export interface Forbidden {
  /** With its suffix; empty for the core group. */
  group: string;
  /** With the subresource: `pods/status`. */
  resource: string;
  namespace: string;
  name: string;
}

export function forbidden(what: Forbidden, by: Denied): StatusError {
  const { group, resource, namespace, name } = what;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const qualified = group === '' ? resource : `${resource}.${group}`;
  const subject = `${qualified}${name === '' ? '' : ` "${name}"`} is forbidden`;
  const action = `User "${by.user}" cannot ${by.verb} resource "${resource}" in API group "${group}" ${where}`;
  const why = by.reason ? `: ${by.reason}` : '';
  const details = { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource };
  return new StatusError('Forbidden', `${subject}: ${action}${why}`, { details });
}

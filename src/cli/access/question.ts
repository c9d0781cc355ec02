import { ExitError, exitCodes } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { namedResource, servedResources } from './resources.ts';

export interface ActionFlags {
  namespace?: string;
  subresource?: string;
}

export interface SubjectFlags {
  as?: string;
  asGroup?: string[];
}

/** An action as reviews take it, and what people should know of how it was understood. */
export interface Question {
  action: { resourceAttributes: object } | { nonResourceAttributes: object };
  text: string;
  notes: readonly string[];
}

/** From `VERB RESOURCE[/NAME]` or `VERB /PATH`; resources are looked up in what the server serves. */
export async function questionIn(
  client: ApiClient,
  signal: AbortSignal,
  [verb, target]: readonly [string, string],
  { namespace = '', subresource = '' }: ActionFlags,
): Promise<Question> {
  if (target.startsWith('/')) return pathQuestion(verb, target, { namespace, subresource });
  const slash = target.indexOf('/');
  const [type, name] = slash === -1 ? [target, ''] : [target.slice(0, slash), target.slice(slash + 1)];
  if (type === '' || verb === '') throw new ExitError(exitCodes.usage, 'a verb and a resource are needed');
  const found = namedResource(type, subresource, await servedResources(client, signal));
  const isPassedOver = found.namespaced === false && namespace !== '';
  const notes = isPassedOver
    ? [...found.notes, `${found.resource} belong to no namespace: --namespace is passed over`]
    : found.notes;
  const { group, resource } = found;
  const scope = found.namespaced === false ? '' : namespace;
  const given = Object.entries({ verb, group, resource, subresource, namespace: scope, name });
  const resourceAttributes = Object.fromEntries(given.filter(([, value]) => value !== ''));
  const what = `${resource}${subresource && `/${subresource}`}${group && `.${group}`}${name && ` ${name}`}`;
  const where = scope === '' ? '' : ` in namespace ${scope}`;
  const everywhere = found.namespaced === true && namespace === '' ? ' in all namespaces' : where;
  return { action: { resourceAttributes }, text: `${verb} ${what}${everywhere}`, notes };
}

function pathQuestion(verb: string, path: string, flags: Required<ActionFlags>): Question {
  const notes = Object.entries(flags)
    .filter(([, value]) => value !== '')
    .map(([name]) => `a path has no ${name}: --${name} is passed over`);
  return { action: { nonResourceAttributes: { verb, path } }, text: `${verb} ${path}`, notes };
}

/**
 * Whom a question is about: with the groups that they are in whenever they are authenticated, as impersonation has it.
 * Nothing for the caller.
 */
export async function subjectOf({
  as,
  asGroup = [],
}: SubjectFlags): Promise<{ user?: string; groups?: string[] }> {
  if (as === undefined) return asGroup.length === 0 ? {} : { groups: asGroup };
  const authn = await import('../../apiserver/authn/index.ts');
  const account = authn.serviceAccountOf(as);
  const usual = as === authn.anonymousName ? authn.unauthenticatedGroup : authn.authenticatedGroup;
  const own = account === undefined ? [] : authn.serviceAccountGroups(account.namespace);
  return { user: as, groups: [...new Set([...asGroup, ...own, usual])] };
}

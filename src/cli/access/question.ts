import { ExitError, exitCodes } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { discoverResources, resolveResource } from './resources.ts';

export interface ActionFlags {
  namespace?: string;
  subresource?: string;
}

/** An action in the form of a review, as a text, and remarks on how the arguments were understood. */
interface Question {
  action: { resourceAttributes: object } | { nonResourceAttributes: object };
  text: string;
  notes: readonly string[];
}

/** Resolves `VERB RESOURCE[/NAME]` or `VERB /PATH` by what the server serves. */
export async function resolveQuestion(
  client: ApiClient,
  signal: AbortSignal,
  [verb, target]: readonly [string, string],
  { namespace = '', subresource = '' }: ActionFlags,
): Promise<Question> {
  if (target.startsWith('/')) return toPathQuestion(verb, target, { namespace, subresource });
  const slash = target.indexOf('/');
  const [type, name] = slash === -1 ? [target, ''] : [target.slice(0, slash), target.slice(slash + 1)];
  if (type === '' || verb === '') throw new ExitError(exitCodes.usage, 'a verb and a resource are needed');
  const found = resolveResource(type, subresource, await discoverResources(client, signal));
  const ignoresNamespace = found.namespaced === false && namespace !== '';
  const notes = ignoresNamespace
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

function toPathQuestion(verb: string, path: string, flags: Required<ActionFlags>): Question {
  const notes = Object.entries(flags)
    .filter(([, value]) => value !== '')
    .map(([name]) => `a path has no ${name}: --${name} is passed over`);
  return { action: { nonResourceAttributes: { verb, path } }, text: `${verb} ${path}`, notes };
}

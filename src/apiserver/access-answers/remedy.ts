import type { AccessRemedy, PolicyRule } from '../../api/index.ts';
import { writeYaml } from '../../api/index.ts';
import type { User } from '../authn/index.ts';
import { serviceAccountOf } from '../authn/index.ts';
import type { Attributes } from '../authz/index.ts';

/**
 * The minimal permission that would allow a user an action: a rule for this action only, with its role and binding as
 * YAML. `group` is the API group of roles. Undefined when no valid rule can express it.
 */
export function suggestRemedy(user: User, asked: Attributes, group: string): AccessRemedy | undefined {
  const rule = createMinimalRule(asked);
  const subject = createSubject(user, group);
  if (rule === undefined || subject === undefined) return undefined;
  const namespace = 'path' in asked ? '' : asked.namespace;
  const prefix = namespace === '' ? 'Cluster' : '';
  const metadata = { name: createRoleName(asked), ...(namespace === '' ? {} : { namespace }) };
  const apiVersion = `${group}/v1`;
  const role = { apiVersion, kind: `${prefix}Role`, metadata, rules: [rule] };
  const roleRef = { apiGroup: group, kind: role.kind, name: metadata.name };
  const bindingName = `${metadata.name}-${toSlug(subject.name)}`;
  const binding = {
    apiVersion,
    kind: `${prefix}RoleBinding`,
    metadata: { ...metadata, name: bindingName },
    roleRef,
    subjects: [subject],
  };
  return { rule, manifest: `${writeYaml(role)}---\n${writeYaml(binding)}` };
}

function createMinimalRule(asked: Attributes): PolicyRule | undefined {
  const verbs = [asked.verb];
  if (asked.verb === '') return undefined;
  if ('path' in asked) {
    const { path } = asked;
    return /^\/[^*]*$|^\/(?:[^*]*\/)?\*$|^\*$/.test(path) ? { verbs, nonResourceURLs: [path] } : undefined;
  }
  const { verb, group, resource, subresource, name } = asked;
  if (resource === '') return undefined;
  const isNamed = name !== '' && verb !== 'deletecollection' && (verb !== 'create' || subresource !== '');
  return {
    verbs,
    apiGroups: [group],
    resources: [subresource === '' ? resource : `${resource}/${subresource}`],
    ...(isNamed ? { resourceNames: [name] } : {}),
  };
}

/** The user, or the first group when there is no user name. */
function createSubject({ name, groups }: User, apiGroup: string) {
  const account = serviceAccountOf(name);
  if (account !== undefined) return { kind: 'ServiceAccount', ...account };
  if (name !== '') return { apiGroup, kind: 'User', name };
  const [group] = groups;
  return group === undefined ? undefined : { apiGroup, kind: 'Group', name: group };
}

function createRoleName(asked: Attributes): string {
  if ('path' in asked) return toSlug(`${asked.verb}-${asked.path}`);
  const { verb, resource, subresource, name } = asked;
  return toSlug([verb, resource, subresource, name].filter((part) => part !== '').join('-'));
}

const maxSlugLength = 100;

/** Converts a text to a part of a valid object name. */
function toSlug(text: string): string {
  const plain = text
    .slice(0, 4 * maxSlugLength)
    .toLowerCase()
    .replaceAll('*', 'all')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxSlugLength)
    .replaceAll(/^-|-$/g, '');
  return plain === '' ? 'access' : plain;
}

import { groupName } from '../../../api/index.ts';
import { CompiledRules, nameIn, questionOf } from '../rbac/index.ts';
import type { Attributes, Authorizer, Decision } from '../types.ts';
import { allow, noOpinion, noRules } from '../types.ts';
import type { NodeFacts } from './facts.ts';
import { noFacts } from './facts.ts';
import { nodeLeaseNamespace, nodeNameOf } from './node-name.ts';
import type { ReferencedResource } from './pod-references.ts';
import { nodeRules } from './rules.ts';

type Asked = Extract<Attributes, { resource: string }>;
type Answer = Decision | Promise<Decision>;
/** Undefined is yes; a text is why not, which may be empty. */
type Refusal = string | undefined;

/**
 * Node agents (as the reference with its gate AuthorizeNodeWithSelectors): each has its own Node, Lease, CSINode, pods and
 * requests for certificates, and may read what its pods name. What an object to be created is called and where a pod
 * belongs is not known here: `nodeRestriction` looks at what they write. Without `facts` no node has pods.
 */
export function nodeAuthorizer(groupSuffix: string, facts: NodeFacts = noFacts): Authorizer {
  const group = (name: string) => groupName(name, groupSuffix);
  const rules = new CompiledRules(nodeRules(groupSuffix));

  function named(resource: ReferencedResource, verbs: readonly string[], node: string, asked: Asked): Answer {
    const name = nameOf(asked);
    const refusal = refusalToRead(asked, verbs, name);
    return refusal === undefined ? isNamed(node, resource, asked.namespace, name) : refuse(refusal);
  }

  function isNamed(node: string, resource: ReferencedResource, namespace: string, name: string): Answer {
    const answer = facts.names(node, resource, namespace, name);
    return answer instanceof Promise ? answer.then((isSo) => related(node, isSo)) : related(node, answer);
  }

  function account(node: string, asked: Asked): Answer {
    const { verb, subresource, namespace, name } = asked;
    if (subresource === '') return named('serviceaccounts', ['get'], node, asked);
    const isToken = subresource === 'token' && verb === 'create' && namespace !== '' && name !== '';
    if (isToken) return isNamed(node, 'serviceaccounts', namespace, name);
    return refuse('can only create tokens for individual service accounts');
  }

  function pods(node: string, asked: Asked): Answer {
    const { verb, subresource, namespace } = asked;
    if (subresource === 'status') return mayIf(isOneOf(verb, 'patch update'));
    if (subresource === 'eviction') return mayIf(verb === 'create');
    if (subresource !== '') return refuse('');
    if (isOneOf(verb, 'create delete')) return yes;
    if (!isOneOf(verb, 'get list watch')) return refuse('');
    if (verb !== 'get' && selectsNode(asked, node)) return yes;
    const name = nameOf(asked);
    if (name === '') return refuse('can only list/watch pods with spec.nodeName field selector');
    return related(node, facts.pod(namespace, name)?.spec?.nodeName === node);
  }

  function requests(node: string, asked: Asked): Answer {
    if (asked.subresource !== '') return refuse('');
    if (asked.verb === 'create') return yes;
    if (!isOneOf(asked.verb, 'get list watch')) return refuse('');
    return related(node, facts.requester(nameOf(asked)) === `system:node:${node}`);
  }

  const own = new Map<string, (node: string, asked: Asked) => Answer>([
    ['secrets.', (...asked) => named('secrets', ['get', 'list', 'watch'], ...asked)],
    ['configmaps.', (...asked) => named('configmaps', ['get', 'list', 'watch'], ...asked)],
    ['persistentvolumeclaims.', (...asked) => named('persistentvolumeclaims', ['get'], ...asked)],
    ['serviceaccounts.', account],
    ['pods.', pods],
    ['nodes.', (...asked) => decide(refusalOfNode(...asked))],
    [`leases.${group('coordination')}`, (...asked) => decide(refusalOfLease(...asked))],
    [`csinodes.${group('storage')}`, (...asked) => decide(refusalOfCsiNode(...asked))],
    [`certificatesigningrequests.${group('certificates')}`, requests],
  ]);

  return {
    authorize(user, attributes) {
      const node = nodeNameOf(user);
      if (node === undefined || !('resource' in attributes)) return noOpinion;
      const narrower = own.get(`${attributes.resource}.${attributes.group}`);
      if (narrower !== undefined) return narrower(node, attributes);
      return questionOf(attributes).isAllowedBy(rules) ? yes : noOpinion;
    },
    rules(user) {
      if (nodeNameOf(user) === undefined) return noRules;
      const errors = ['node authorizer does not support user rule resolution'];
      return { ...noRules, incomplete: true, errors };
    },
  };
}

const yes = allow('a node agent and what is its own');

function refuse(reason: string): Decision {
  return reason === '' ? noOpinion : { ...noOpinion, reason };
}

function decide(refusal: Refusal): Decision {
  return refusal === undefined ? yes : refuse(refusal);
}

function mayIf(isAllowed: boolean): Decision {
  return isAllowed ? yes : noOpinion;
}

function related(node: string, isRelated: boolean): Decision {
  return isRelated ? yes : refuse(`no relationship found between node '${node}' and this object`);
}

function isOneOf(verb: string, verbs: string): boolean {
  return verbs.split(' ').includes(verb);
}

/** The one object that is asked for, by the path or by a selector. */
function nameOf(asked: Asked): string {
  return nameIn(asked) ?? '';
}

function selectsNode({ nodeName, selectors }: Asked, node: string): boolean {
  if (nodeName === node) return true;
  return (selectors?.fields ?? []).some(
    ({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node,
  );
}

function refusalToRead({ verb, subresource, namespace }: Asked, verbs: readonly string[], name: string) {
  if (!verbs.includes(verb)) {
    return verbs.length === 1
      ? 'can only get individual resources of this type'
      : 'can only read resources of this type';
  }
  if (subresource !== '') return 'cannot read subresource';
  if (namespace === '') return 'can only read namespaced object of this type';
  return name === '' ? 'No Object name found' : undefined;
}

function refusalOfNode(node: string, asked: Asked): Refusal {
  const { verb, subresource } = asked;
  if (subresource === 'status') return isOneOf(verb, 'patch update') ? mustBeOwn(node, asked) : '';
  if (subresource !== '') return '';
  if (verb === 'create') return undefined;
  if (isOneOf(verb, 'patch update')) return mustBeOwn(node, asked);
  if (!isOneOf(verb, 'get list watch')) return '';
  const name = nameOf(asked);
  if (name === node) return undefined;
  const what = name === '' ? 'all nodes' : `'${name}'`;
  return `node '${node}' cannot read ${what}, only its own Node object`;
}

function mustBeOwn(node: string, { name }: Asked): Refusal {
  return name === node ? undefined : `node '${node}' cannot write '${name}', only its own Node object`;
}

const ownVerbs = 'create delete get patch update';

function refusalOfLease(node: string, { verb, namespace, name, subresource }: Asked): Refusal {
  if (subresource !== '') return '';
  if (!isOneOf(verb, ownVerbs)) return 'can only get, create, update, patch, or delete a node lease';
  if (namespace !== nodeLeaseNamespace) {
    return `can only access leases in the "${nodeLeaseNamespace}" system namespace`;
  }
  if (verb === 'create' || name === node) return undefined;
  return 'can only access node lease with the same name as the requesting node';
}

function refusalOfCsiNode(node: string, { verb, name, subresource }: Asked): Refusal {
  if (!isOneOf(verb, ownVerbs)) return 'can only get, create, update, patch, or delete a CSINode';
  if (subresource !== '') return 'cannot authorize CSINode subresources';
  if (verb === 'create' || name === node) return undefined;
  return 'can only access CSINode with the same name as the requesting node';
}

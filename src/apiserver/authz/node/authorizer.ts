import type { ReferencedResource } from '../../../api/index.ts';
import { groupName } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import { CompiledRules, nameIn, questionOf } from '../rbac/index.ts';
import type { Attributes, Authorizer, Decision, RuleList } from '../types.ts';
import { allow, noOpinion, noRules } from '../types.ts';
import type { NodeFacts } from './facts.ts';
import { noFacts } from './facts.ts';
import { nodeLeaseNamespace, nodeNameOf } from './node-name.ts';
import { listNodeRules } from './rules.ts';

type Asked = Extract<Attributes, { resource: string }>;
type Answer = Decision | Promise<Decision>;
type NarrowRule = (node: string, asked: Asked) => Answer;
/** Undefined: allowed; otherwise the reason of the refusal, which may be empty. */
type Refusal = string | undefined;

const onlyGet: readonly string[] = ['get'];
const readVerbs: readonly string[] = ['get', 'list', 'watch'];

/**
 * Authorizes node agents (like the reference with its gate AuthorizeNodeWithSelectors): each may use its own Node, Lease,
 * CSINode, pods and certificate requests, and may read the objects that its pods refer to. The name of an object to be
 * created and the node of a pod are not known here: `nodeRestriction` checks what agents write. Without `facts` no node has
 * pods.
 */
export class NodeAuthorizer implements Authorizer {
  readonly #facts: NodeFacts;
  /** By resource and group; they decide instead of `#generalRules`. */
  readonly #narrowRules: ReadonlyMap<string, NarrowRule>;
  readonly #generalRules: CompiledRules;

  constructor(groupSuffix: string, facts: NodeFacts = noFacts) {
    const group = (name: string) => groupName(name, groupSuffix);
    const referenced =
      (resource: ReferencedResource, verbs: readonly string[]): NarrowRule =>
      (node, asked) =>
        this.#decideReferenced(resource, verbs, node, asked);
    this.#facts = facts;
    this.#generalRules = new CompiledRules(listNodeRules(groupSuffix));
    this.#narrowRules = new Map<string, NarrowRule>([
      ['secrets.', referenced('secrets', readVerbs)],
      ['configmaps.', referenced('configmaps', readVerbs)],
      ['persistentvolumeclaims.', (node, asked) => this.#decideClaims(node, asked)],
      ['persistentvolumes.', (node, asked) => this.#decideVolumes(node, asked)],
      ['serviceaccounts.', (node, asked) => this.#decideAccount(node, asked)],
      ['pods.', (node, asked) => this.#decidePods(node, asked)],
      ['nodes.', (node, asked) => toDecision(refusalOfNode(node, asked))],
      [`leases.${group('coordination')}`, (node, asked) => toDecision(refusalOfLease(node, asked))],
      [`csinodes.${group('storage')}`, (node, asked) => toDecision(refusalOfCsiNode(node, asked))],
      [`volumeattachments.${group('storage')}`, (node, asked) => this.#decideAttachments(node, asked)],
      [`resourceclaims.${group('resource')}`, referenced('resourceclaims', onlyGet)],
      [`resourceslices.${group('resource')}`, (node, asked) => this.#decideSlices(node, asked)],
      [
        `certificatesigningrequests.${group('certificates')}`,
        (node, asked) => this.#decideRequests(node, asked),
      ],
    ]);
  }

  authorize(user: User, attributes: Attributes): Answer {
    const node = nodeNameOf(user);
    if (node === undefined || !('resource' in attributes)) return noOpinion;
    const narrower = this.#narrowRules.get(`${attributes.resource}.${attributes.group}`);
    if (narrower !== undefined) return narrower(node, attributes);
    return questionOf(attributes).isAllowedBy(this.#generalRules) ? allowed : noOpinion;
  }

  rules(user: User): RuleList {
    if (nodeNameOf(user) === undefined) return noRules;
    const errors = ['node authorizer does not support user rule resolution'];
    return { ...noRules, incomplete: true, errors };
  }

  #decideReferenced(
    resource: ReferencedResource,
    verbs: readonly string[],
    node: string,
    asked: Asked,
  ): Answer {
    const name = nameOf(asked);
    const refusal = refusalToRead(asked, verbs, name);
    if (refusal !== undefined) return refuse(refusal);
    return this.#decideByReference(node, resource, asked.namespace, name);
  }

  #decideByReference(node: string, resource: ReferencedResource, namespace: string, name: string): Answer {
    const answer = this.#names(node, resource, namespace, name);
    return answer instanceof Promise
      ? answer.then((isSo) => decideRelated(node, isSo))
      : decideRelated(node, answer);
  }

  /** A Secret may also belong to a volume whose claim a pod names. */
  #names(node: string, resource: ReferencedResource, namespace: string, name: string) {
    const claims = resource === 'secrets' ? this.#facts.claimsWithSecret(namespace, name) : [];
    const answers = [
      this.#facts.names(node, resource, namespace, name),
      ...claims.map((claim) =>
        this.#facts.names(node, 'persistentvolumeclaims', claim.namespace, claim.name),
      ),
    ];
    if (answers.includes(true)) return true;
    const pending = answers.filter((answer) => answer instanceof Promise);
    return pending.length === 0 ? false : Promise.all(pending).then((found) => found.includes(true));
  }

  #decideClaims(node: string, asked: Asked): Answer {
    const { verb, subresource, namespace } = asked;
    if (subresource === '') return this.#decideReferenced('persistentvolumeclaims', onlyGet, node, asked);
    if (!isOneOf(verb, 'patch update')) return refuse('can only get/update/patch this type');
    if (subresource !== 'status') return refuse('can only update status subresource');
    return this.#decideByReference(node, 'persistentvolumeclaims', namespace, nameOf(asked));
  }

  #decideVolumes(node: string, asked: Asked): Answer {
    const refusal = refusalToGet(asked);
    if (refusal !== undefined) return refuse(refusal);
    const claim = this.#facts.claimOf(nameOf(asked));
    if (claim === undefined) return decideRelated(node, false);
    return this.#decideByReference(node, 'persistentvolumeclaims', claim.namespace, claim.name);
  }

  #decideAttachments(node: string, asked: Asked): Answer {
    const refusal = refusalToGet(asked);
    if (refusal !== undefined) return refuse(refusal);
    return decideRelated(node, this.#facts.attachedTo(nameOf(asked)) === node);
  }

  #decideAccount(node: string, asked: Asked): Answer {
    const { verb, subresource, namespace, name } = asked;
    if (subresource === '') return this.#decideReferenced('serviceaccounts', onlyGet, node, asked);
    const isToken = subresource === 'token' && verb === 'create' && namespace !== '' && name !== '';
    if (isToken) return this.#decideByReference(node, 'serviceaccounts', namespace, name);
    return refuse('can only create tokens for individual service accounts');
  }

  #decidePods(node: string, asked: Asked): Answer {
    const { verb, subresource, namespace } = asked;
    if (subresource === 'status') return allowIf(isOneOf(verb, 'patch update'));
    if (subresource === 'eviction') return allowIf(verb === 'create');
    if (subresource !== '') return refuse('');
    if (isOneOf(verb, 'create delete')) return allowed;
    if (!isOneOf(verb, 'get list watch')) return refuse('');
    if (verb !== 'get' && selectsNode(asked, node)) return allowed;
    const name = nameOf(asked);
    if (name === '') return refuse('can only list/watch pods with spec.nodeName field selector');
    return decideRelated(node, this.#facts.pod(namespace, name)?.spec?.nodeName === node);
  }

  #decideSlices(node: string, asked: Asked): Answer {
    const { verb, subresource, name } = asked;
    if (subresource !== '') return refuse('cannot authorize ResourceSlice subresources');
    if (verb === 'create') return allowed; // of its own alone: `nodeRestriction`
    if (isOneOf(verb, 'list watch deletecollection')) {
      const verbs = 'list/watch/deletecollection';
      return selectsNode(asked, node)
        ? allowed
        : refuse(`can only ${verbs} resourceslices with nodeName field selector`);
    }
    if (!isOneOf(verb, 'get update patch delete')) return refuse('');
    return decideRelated(node, this.#facts.sliceNode(name) === node);
  }

  #decideRequests(node: string, asked: Asked): Answer {
    if (asked.subresource !== '') return refuse('');
    if (asked.verb === 'create') return allowed;
    if (!isOneOf(asked.verb, 'get list watch')) return refuse('');
    return decideRelated(node, this.#facts.requester(nameOf(asked)) === `system:node:${node}`);
  }
}

const allowed = allow('a node agent and what is its own');

function refuse(reason: string): Decision {
  return reason === '' ? noOpinion : { ...noOpinion, reason };
}

function toDecision(refusal: Refusal): Decision {
  return refusal === undefined ? allowed : refuse(refusal);
}

function allowIf(isAllowed: boolean): Decision {
  return isAllowed ? allowed : noOpinion;
}

function decideRelated(node: string, isRelated: boolean): Decision {
  return isRelated ? allowed : refuse(`no relationship found between node '${node}' and this object`);
}

function isOneOf(verb: string, verbs: string): boolean {
  return verbs.split(' ').includes(verb);
}

/** The name of the requested object, from the path or a selector. */
function nameOf(asked: Asked): string {
  return nameIn(asked) ?? '';
}

function selectsNode({ nodeName, selectors }: Asked, node: string): boolean {
  if (nodeName === node) return true;
  return (selectors?.fields ?? []).some(
    ({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node,
  );
}

/** Of an object without a namespace. */
function refusalToGet({ verb, subresource, name }: Asked): string | undefined {
  if (verb !== 'get') return 'can only get individual resources of this type';
  if (subresource !== '') return 'cannot get subresource';
  return name === '' ? 'No Object name found' : undefined;
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

import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../api/index.ts';
import { groupName, isRecord, nodeSignerNames, StatusError } from '../../api/index.ts';
import type { User } from '../authn/index.ts';
import { nodesGroup } from '../authn/index.ts';
import type { Attributes, Authorizer } from './types.ts';
import { allow, noOpinion, noRules } from './types.ts';

/** Where the heartbeats of nodes live. */
export const nodeLeaseNamespace = 'kube-node-lease';

const userPrefix = 'system:node:';

/** The node that a user is, or undefined: the name and the group must both say so. */
export function nodeNameOf(user: User): string | undefined {
  if (!user.groups.includes(nodesGroup) || !user.name.startsWith(userPrefix)) return undefined;
  const name = user.name.slice(userPrefix.length);
  return name === '' ? undefined : name;
}

type ResourceAttributes = Extract<Attributes, { resource: string }>;

/**
 * Node agents: each may create, read and change its own Node and its own Lease, and ask for certificates. What an
 * object to be created is called is not known here; `nodeRestriction` looks at that.
 */
export function nodeAuthorizer(groupSuffix: string): Authorizer {
  const certificates = groupName('certificates', groupSuffix);
  const coordination = groupName('coordination', groupSuffix);

  function mayTouchNode(node: string, asked: ResourceAttributes): boolean {
    if (asked.verb === 'create') return asked.subresource === '';
    return asked.name === node && ['get', 'patch', 'update'].includes(asked.verb);
  }

  function mayTouchLease(node: string, asked: ResourceAttributes): boolean {
    if (asked.namespace !== nodeLeaseNamespace || asked.subresource !== '') return false;
    if (asked.verb === 'create') return true;
    return asked.name === node && ['delete', 'get', 'patch', 'update'].includes(asked.verb);
  }

  return {
    authorize(user, attributes) {
      const node = nodeNameOf(user);
      if (node === undefined || !('resource' in attributes)) return noOpinion;
      const what = `${attributes.resource}.${attributes.group}`;
      const allowed =
        (what === 'nodes.' && mayTouchNode(node, attributes)) ||
        (what === `leases.${coordination}` && mayTouchLease(node, attributes)) ||
        (what === `certificatesigningrequests.${certificates}` &&
          attributes.subresource === '' &&
          ['create', 'get'].includes(attributes.verb));
      return allowed ? allow(`node ${node} and what is its own`) : noOpinion;
    },
    rules(user) {
      if (nodeNameOf(user) === undefined) return noRules;
      const errors = ['node authorizer does not support user rule resolution'];
      return { ...noRules, incomplete: true, errors };
    },
  };
}

interface Write {
  verb: string;
  resource: string;
  subresource: string;
  name: string;
  namespace: string;
}

/** Refuses what a node would write under another's name, and what of its own Node is not its to change. */
export function nodeRestriction(
  user: User,
  write: Write,
  next: ApiObject | undefined,
  old: ApiObject | undefined,
): void {
  const node = nodeNameOf(user);
  if (node === undefined) return;
  const refuse = (what: string) => refused(write, `node ${JSON.stringify(node)} is not allowed to ${what}`);
  const own = write.resource === 'nodes' || write.resource === 'leases';
  if (own && write.name !== node) throw refuse(`${write.verb} ${write.resource} of other nodes`);
  if (write.resource === 'certificatesigningrequests' && write.verb === 'create') {
    const signer = fieldOf(next, 'signerName');
    if (!signers.some((known) => known === signer)) throw refuse(`ask the signer ${JSON.stringify(signer)}`);
  }
  if (write.resource !== 'nodes' || next === undefined) return;
  const labels = changedLabels(next, old).filter((key) => restrictedLabel.test(key));
  if (labels.length > 0) throw refuse(`set or remove the labels ${labels.join(', ')}`);
  // with them a node would draw workloads to itself, or have itself removed
  if (old === undefined) return;
  if (!isDeepStrictEqual(taintsOf(next), taintsOf(old))) throw refuse('change its taints');
  if (!isDeepStrictEqual(next.metadata?.ownerReferences, old.metadata?.ownerReferences)) {
    throw refuse('change its owner references');
  }
}

const restrictedLabel = /^(?:[^/]+\.)?node-restriction\.kubernetes\.io\//;

function changedLabels(next: ApiObject, old: ApiObject | undefined): string[] {
  const after = new Map(Object.entries(next.metadata?.labels ?? {}));
  const before = new Map(Object.entries(old?.metadata?.labels ?? {}));
  const keys = new Set([...after.keys(), ...before.keys()]);
  return [...keys].filter((key) => after.get(key) !== before.get(key));
}

/** The signers that there are for node agents; requests to others would lie about until somebody answers. */
const signers: readonly string[] = Object.values(nodeSignerNames);

function taintsOf(object: ApiObject): unknown {
  return fieldOf(object, 'taints') ?? [];
}

/** A field of the spec, whatever the kind. */
function fieldOf(object: ApiObject | undefined, name: string): unknown {
  const spec: unknown = object === undefined ? undefined : Reflect.get(object, 'spec');
  return isRecord(spec) ? spec[name] : undefined;
}

function refused(write: Write, why: string): StatusError {
  return new StatusError('Forbidden', `${write.resource} "${write.name}" is forbidden: ${why}`, {
    details: { name: write.name, kind: write.resource },
  });
}

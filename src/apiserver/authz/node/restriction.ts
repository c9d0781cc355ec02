import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../api/index.ts';
import { isRecord, nodeSignerNames, StatusError } from '../../../api/index.ts';
import type { Admission } from '../../registry/index.ts';
import type { NodeFacts } from './facts.ts';
import { noFacts } from './facts.ts';
import { nodeLeaseNamespace, nodeNameOf } from './node-name.ts';
import type { NodeWrite } from './node-write.ts';
import { explainNodeRefusal } from './restrict-node.ts';
import { explainPodRefusal } from './restrict-pod.ts';

/**
 * Refuses writes of a node agent to objects of other nodes, and to those parts of its own objects that it may not change,
 * whatever roles it has (like the reference's plugin NodeRestriction). Throws 403.
 */
export function nodeRestriction(facts: NodeFacts = noFacts): Admission {
  return (user, write, next, old) => {
    const node = nodeNameOf(user);
    if (node === undefined) return;
    const why = explainRefusal({ ...write, node, next, old }, facts);
    if (why !== undefined) throw toForbidden(write, why);
  };
}

function explainRefusal(write: NodeWrite, facts: NodeFacts): string | undefined {
  switch (write.resource) {
    case 'pods':
      return explainPodRefusal(write, facts);
    case 'nodes':
      return explainNodeRefusal(write);
    case 'leases':
      return explainLeaseRefusal(write);
    case 'csinodes':
      return write.name === write.node
        ? undefined
        : 'can only access CSINode with the same name as the requesting node';
    case 'persistentvolumeclaims':
      return explainClaimRefusal(write);
    case 'resourceslices':
      return explainSliceRefusal(write);
    case 'certificatesigningrequests':
      return explainRequestRefusal(write);
    default:
      return undefined;
  }
}

function explainLeaseRefusal({ node, name, namespace }: NodeWrite): string | undefined {
  if (namespace !== nodeLeaseNamespace) {
    return `can only access leases in the "${nodeLeaseNamespace}" system namespace`;
  }
  return name === node ? undefined : 'can only access node lease with the same name as the requesting node';
}

/** A ResourceSlice says of which node it is, and that cannot be changed. */
function explainSliceRefusal({ node, next, old }: NodeWrite): string | undefined {
  const spec: unknown = Reflect.get(next ?? old ?? {}, 'spec');
  const isOwn = isRecord(spec) && spec['nodeName'] === node;
  return isOwn ? undefined : 'can only access ResourceSlice with the same NodeName as the requesting node';
}

/** What a node reports of the volume of a claim: its size and how far an expansion is. */
const reported = ['allocatedResources', 'allocatedResourceStatuses', 'capacity', 'conditions'];

function explainClaimRefusal({ node, verb, subresource, next, old }: NodeWrite): string | undefined {
  if (subresource !== 'status') return 'may only update PVC status';
  if (verb !== 'update') return `unexpected operation ${JSON.stringify(verb.toUpperCase())}`;
  if (isDeepStrictEqual(withoutReported(next), withoutReported(old))) return undefined;
  const me = `node ${JSON.stringify(node)}`;
  return `${me} is not allowed to update fields other than status.capacity and status.conditions`;
}

function withoutReported(object: ApiObject | undefined): unknown {
  const { resourceVersion: _version, managedFields: _managers, ...metadata } = object?.metadata ?? {};
  const status: unknown = object && Reflect.get(object, 'status');
  const rest = Object.entries(isRecord(status) ? status : {}).filter(([name]) => !reported.includes(name));
  return { ...object, metadata, status: Object.fromEntries(rest) };
}

/** The signers for node agents; requests to others would stay unanswered. */
const signers: readonly unknown[] = Object.values(nodeSignerNames);

function explainRequestRefusal({ node, verb, next }: NodeWrite): string | undefined {
  if (verb !== 'create') return undefined;
  const spec: unknown = next && Reflect.get(next, 'spec');
  const signer: unknown = typeof spec === 'object' && spec !== null ? Reflect.get(spec, 'signerName') : '';
  return signers.includes(signer)
    ? undefined
    : `node ${JSON.stringify(node)} is not allowed to ask the signer ${JSON.stringify(signer)}`;
}

function toForbidden({ resource, name }: Parameters<Admission>[1], why: string): StatusError {
  return new StatusError('Forbidden', `${resource} ${JSON.stringify(name)} is forbidden: ${why}`, {
    details: { ...(name === '' ? {} : { name }), kind: resource },
  });
}

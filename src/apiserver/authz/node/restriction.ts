import { nodeSignerNames, StatusError } from '../../../api/index.ts';
import type { Admission } from '../../registry/index.ts';
import type { NodeFacts } from './facts.ts';
import { noFacts } from './facts.ts';
import { nodeLeaseNamespace, nodeNameOf } from './node-name.ts';
import type { NodeWrite } from './node-write.ts';
import { whyNotNode } from './restrict-node.ts';
import { whyNotPod } from './restrict-pod.ts';

/**
 * Refuses what a node would write under another's name, and what of its own objects is not its to change, whatever roles
 * it has (as the reference's plugin NodeRestriction). Throws 403.
 */
export function nodeRestriction(facts: NodeFacts = noFacts): Admission {
  return (user, write, next, old) => {
    const node = nodeNameOf(user);
    if (node === undefined) return;
    const why = whyNot({ ...write, node, next, old }, facts);
    if (why !== undefined) throw refused(write, why);
  };
}

function whyNot(write: NodeWrite, facts: NodeFacts): string | undefined {
  switch (write.resource) {
    case 'pods':
      return whyNotPod(write, facts);
    case 'nodes':
      return whyNotNode(write);
    case 'leases':
      return whyNotLease(write);
    case 'csinodes':
      return write.name === write.node
        ? undefined
        : 'can only access CSINode with the same name as the requesting node';
    case 'certificatesigningrequests':
      return whyNotRequest(write);
    default:
      return undefined;
  }
}

function whyNotLease({ node, name, namespace }: NodeWrite): string | undefined {
  if (namespace !== nodeLeaseNamespace) {
    return `can only access leases in the "${nodeLeaseNamespace}" system namespace`;
  }
  return name === node ? undefined : 'can only access node lease with the same name as the requesting node';
}

/** The signers that there are for node agents; requests to others would lie about until somebody answers. */
const signers: readonly unknown[] = Object.values(nodeSignerNames);

function whyNotRequest({ node, verb, next }: NodeWrite): string | undefined {
  if (verb !== 'create') return undefined;
  const spec: unknown = next && Reflect.get(next, 'spec');
  const signer: unknown = typeof spec === 'object' && spec !== null ? Reflect.get(spec, 'signerName') : '';
  return signers.includes(signer)
    ? undefined
    : `node ${JSON.stringify(node)} is not allowed to ask the signer ${JSON.stringify(signer)}`;
}

function refused({ resource, name }: Parameters<Admission>[1], why: string): StatusError {
  return new StatusError('Forbidden', `${resource} ${JSON.stringify(name)} is forbidden: ${why}`, {
    details: { ...(name === '' ? {} : { name }), kind: resource },
  });
}

import type { TokenRequest } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import type { NodeFacts } from './facts.ts';
import { nodeNameOf } from './node-name.ts';

/** Throws 403 unless the token that a node agent requests is bound to one of its own pods (the reference's NodeRestriction). */
export type TokenRestriction = (
  user: User,
  account: { namespace: string; name: string },
  reference: TokenRequest['spec']['boundObjectRef'],
) => void;

export function tokenRestriction(facts: NodeFacts): TokenRestriction {
  return (user, { namespace, name }, reference) => {
    const node = nodeNameOf(user);
    if (node === undefined) return;
    const why = explainRefusal(facts, node, namespace, reference);
    if (why === undefined) return;
    throw new StatusError('Forbidden', `serviceaccounts ${JSON.stringify(name)} is forbidden: ${why}`, {
      details: { name, kind: 'serviceaccounts' },
    });
  };
}

function explainRefusal(
  facts: NodeFacts,
  node: string,
  namespace: string,
  reference: TokenRequest['spec']['boundObjectRef'],
): string | undefined {
  const { apiVersion, kind, name = '', uid = '' } = reference ?? {};
  if (apiVersion !== 'v1' || kind !== 'Pod' || name === '') return 'node requested token not bound to a pod';
  if (uid === '') return 'node requested token with a pod binding without a uid';
  const pod = facts.pod(namespace, name);
  if (pod === undefined || pod.metadata?.uid !== uid) {
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  }
  return pod.spec?.nodeName === node
    ? undefined
    : 'node requested token bound to a pod scheduled on a different node';
}

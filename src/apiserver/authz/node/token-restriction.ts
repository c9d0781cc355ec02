import type { Pod, TokenRequest } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import type { Authorizer } from '../types.ts';
import type { NodeFacts } from './facts.ts';
import { nodeNameOf } from './node-name.ts';

type Spec = TokenRequest['spec'];

/**
 * Rejects with 403 unless the token that a node agent requests is bound to one of its own pods, and for an audience for which that
 * pod has tokens, or for which the node may request them by a role (the reference's NodeRestriction).
 */
export type TokenRestriction = (
  user: User,
  account: { namespace: string; name: string },
  spec: Pick<Spec, 'audiences' | 'boundObjectRef'>,
) => Promise<void>;

export function tokenRestriction(facts: NodeFacts, authorizer: Authorizer): TokenRestriction {
  return async (user, { namespace, name }, { audiences, boundObjectRef }) => {
    const node = nodeNameOf(user);
    if (node === undefined) return;
    const refuse = (why: string) =>
      new StatusError('Forbidden', `serviceaccounts ${JSON.stringify(name)} is forbidden: ${why}`, {
        details: { name, kind: 'serviceaccounts' },
      });
    const found = findOwnPod(facts, node, namespace, boundObjectRef);
    if (typeof found === 'string') throw refuse(found);
    if (audiences.length > 1) throw refuse('node may only request 0 or 1 audiences');
    const [audience = ''] = audiences;
    if (hasTokenFor(found, audience, facts)) return;
    const asked = { group: '', version: 'v1', resource: audience, subresource: '', namespace, name };
    const { verdict } = await authorizer.authorize(user, { verb: roleVerb, ...asked });
    if (verdict === 'allow') return;
    throw refuse(
      `audience ${JSON.stringify(audience)} not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`,
    );
  };
}

/** By a role with this verb a node may request tokens for others, which are its resources. */
const roleVerb = 'request-serviceaccounts-token-audience';

/** The pod, or why there is no token for it. */
function findOwnPod(
  facts: NodeFacts,
  node: string,
  namespace: string,
  reference: Spec['boundObjectRef'],
): Pod | string {
  const { apiVersion, kind, name = '', uid = '' } = reference ?? {};
  if (apiVersion !== 'v1' || kind !== 'Pod' || name === '') return 'node requested token not bound to a pod';
  if (uid === '') return 'node requested token with a pod binding without a uid';
  const pod = facts.pod(namespace, name);
  if (pod === undefined || pod.metadata?.uid !== uid) {
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  }
  return pod.spec?.nodeName === node
    ? pod
    : 'node requested token bound to a pod scheduled on a different node';
}

/** Whether a volume of the pod shows such a token, or is of a driver that is given one. */
function hasTokenFor({ metadata, spec }: Pod, audience: string, facts: NodeFacts): boolean {
  const { namespace = '', name: podName = '' } = metadata ?? {};
  return (spec?.volumes ?? []).some(({ name, projected, csi, persistentVolumeClaim, ephemeral }) => {
    const sources = projected?.sources ?? [];
    if (sources.some(({ serviceAccountToken: token }) => token && (token.audience ?? '') === audience))
      return true;
    const claim = persistentVolumeClaim?.claimName ?? (ephemeral && `${podName}-${name}`);
    const driver = csi?.driver ?? (claim && facts.driverOf({ namespace, name: claim }));
    return driver !== undefined && facts.audiencesOf(driver).includes(audience);
  });
}

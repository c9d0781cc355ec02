import type { ApiObject, Kind, TokenRequest } from '../../api/index.ts';
import { conflict, nodeKind, podKind, StatusError, secretKind } from '../../api/index.ts';
import type { TokenClaims } from '../authn/index.ts';
import type { Registry } from '../registry/index.ts';

type Reference = NonNullable<TokenRequest['spec']['boundObjectRef']>;
type Bound = Pick<TokenClaims, 'pod' | 'secret' | 'node'>;

/** The service account that a token is for. */
interface Account {
  namespace: string;
  name: string;
}

/**
 * Returns the claims of a token that is bound to an object and becomes invalid with it. Throws 404 when the object does not
 * exist, 409 when its UID is not the given one, 400 when tokens cannot be bound to such an object.
 */
export function bindTo(registry: Registry, account: Account, reference: Reference | undefined): Bound {
  if (reference === undefined) return {};
  const { apiVersion = '', kind = '' } = reference;
  const isCore = !apiVersion.includes('/');
  if (isCore && kind === 'Pod') return bindToPod(registry, account, reference);
  if (isCore && kind === 'Secret') {
    return { secret: toNameAndUid(find(registry, secretKind, account.namespace, reference)) };
  }
  if (isCore && kind === 'Node') return { node: toNameAndUid(find(registry, nodeKind, '', reference)) };
  const type = `${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)}`;
  throw new StatusError('BadRequest', `cannot bind token to object of type ${type}`);
}

/** The token of a pod also names the pod's node. */
function bindToPod(registry: Registry, { namespace, name }: Account, reference: Reference): Bound {
  const pod = find(registry, podKind, namespace, reference);
  const { serviceAccountName, nodeName } = pod.spec ?? {};
  if (serviceAccountName !== name) {
    const account = JSON.stringify(name);
    const message = `cannot bind token for serviceaccount ${account} to pod running with different serviceaccount name`;
    throw new StatusError('BadRequest', message);
  }
  if (!nodeName) return { pod: toNameAndUid(pod) };
  const nodes = registry.of(nodeKind);
  const stored = nodes.storage.get(nodes.prefix('') + nodeName);
  const uid = stored && nodes.encoding.read(stored).metadata?.uid;
  return { pod: toNameAndUid(pod), node: { name: nodeName, ...(uid === undefined ? {} : { uid }) } };
}

function find<T extends ApiObject>(
  registry: Registry,
  kind: Kind<T>,
  namespace: string,
  { name = '', uid }: Reference,
): T {
  const resource = registry.of(kind);
  const object = resource.encoding.read(resource.get(namespace, name));
  if (!uid || uid === object.metadata?.uid) return object;
  const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  throw conflict(kind, registry.groupSuffix, name, why);
}

function toNameAndUid({ metadata: { name = '', uid = '' } = {} }: ApiObject): { name: string; uid: string } {
  return { name, uid };
}

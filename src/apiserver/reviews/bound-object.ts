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
 * What a token says of the object that it shall end with. Throws 404 when that does not exist, 409 when it has another
 * UID than the one that is meant, 400 when no token can be bound to such an object.
 */
export function boundTo(registry: Registry, account: Account, reference: Reference | undefined): Bound {
  if (reference === undefined) return {};
  const { apiVersion = '', kind = '' } = reference;
  const isCore = !apiVersion.includes('/');
  if (isCore && kind === 'Pod') return boundToPod(registry, account, reference);
  if (isCore && kind === 'Secret') {
    return { secret: named(find(registry, secretKind, account.namespace, reference)) };
  }
  if (isCore && kind === 'Node') return { node: named(find(registry, nodeKind, '', reference)) };
  const type = `${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)}`;
  throw new StatusError('BadRequest', `cannot bind token to object of type ${type}`);
}

/** A pod's token also says where the pod runs. */
function boundToPod(registry: Registry, { namespace, name }: Account, reference: Reference): Bound {
  const pod = find(registry, podKind, namespace, reference);
  const { serviceAccountName, nodeName } = pod.spec ?? {};
  if (serviceAccountName !== name) {
    const account = JSON.stringify(name);
    const message = `cannot bind token for serviceaccount ${account} to pod running with different serviceaccount name`;
    throw new StatusError('BadRequest', message);
  }
  if (!nodeName) return { pod: named(pod) };
  const nodes = registry.of(nodeKind);
  const stored = nodes.storage.get(nodes.prefix('') + nodeName);
  const uid = stored && nodes.encoding.read(stored).metadata?.uid;
  return { pod: named(pod), node: { name: nodeName, ...(uid === undefined ? {} : { uid }) } };
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

function named({ metadata: { name = '', uid = '' } = {} }: ApiObject): { name: string; uid: string } {
  return { name, uid };
}

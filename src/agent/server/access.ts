import type { TLSSocket } from 'node:tls';
import type { PeerCertificate } from '../../base/index.ts';
import { readPeerCertificate } from '../../base/index.ts';
import { RefusedError } from './refusal.ts';

/** Who calls the agent. */
export interface Caller {
  name: string;
  groups: readonly string[];
}

/** What a caller wants: a verb on a subresource of this node. */
export interface Wanted {
  verb: string;
  subresource: string;
}

/**
 * Who is behind a connection: the holder of a certificate of the cluster's authority. The certificate is read once per
 * connection and its end compared on every request. Throws 401.
 */
export function authenticator(now: () => number): (socket: TLSSocket) => Caller {
  const admitted = new WeakMap<TLSSocket, PeerCertificate | 'nobody'>();
  return (socket) => {
    const known = admitted.get(socket) ?? readPeerCertificate(socket) ?? 'nobody';
    admitted.set(socket, known);
    if (known === 'nobody' || known.commonName === '' || !(now() < known.notAfterMs))
      throw new RefusedError(401, 'Unauthorized');
    return { name: known.commonName, groups: known.organizations };
  };
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
const subresources: readonly (readonly [path: string, subresource: string])[] = [
  ['/checkpoint', 'checkpoint'],
  ['/stats', 'stats'],
  ['/metrics', 'metrics'],
  ['/logs', 'log'],
  ['/healthz', 'healthz'],
  ['/configz', 'configz'],
  ['/pods', 'pods'],
  ['/runningpods', 'pods'],
];

/** The reference's mapping of the agent's paths to what is authorized; `url` may have a query. */
export function wantedOf(method: string, url: string): Wanted {
  const path = url.split('?', 1)[0] ?? '';
  const found = subresources.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
  return { verb: verbs[method] ?? method.toLowerCase(), subresource: found?.[1] ?? 'proxy' };
}

const mastersGroup = 'system:masters';

/** Throws 403 unless the caller may: `system:masters` may; with `anyCertificate` whoever has been authenticated. */
export function authorize(caller: Caller, wanted: Wanted, anyCertificate: boolean): void {
  if (anyCertificate || caller.groups.includes(mastersGroup)) return;
  const { verb, subresource } = wanted;
  const message = `Forbidden (user=${caller.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresource}])`;
  throw new RefusedError(403, message);
}

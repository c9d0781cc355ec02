import type { Latest } from '../../base/index.ts';
import type { Pair } from '../../base/x509/index.ts';
import type { ClientOptions } from '../../client/index.ts';

/** What the agent's HTTPS server shows, and whose clients it knows. */
export interface ServingCredentials {
  /** Certificate and key of this node, PEM. */
  pair: Pair;
  /** PEM of the authority that clients' certificates come from. */
  clientCa: string;
}

/** Who this node is towards others; each part comes when it is there and is replaced before it ends. */
export interface Identity {
  /** How the API is reached as this node; never comes in standalone mode. */
  readonly api: Latest<ClientOptions>;
  readonly serving: Latest<ServingCredentials>;
}

/** `system:node:NAME` of `system:nodes`: how the control plane knows a node's agent. */
export function nodeSubject(node: string) {
  return { commonName: `system:node:${node}`, organizations: ['system:nodes'] };
}

/** Names of this machine itself, for those who call the agent from it. */
export const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '::1'];

/** Sets the credentials unless they are the ones that are known: each change costs connections. */
export function publishServing(serving: Latest<ServingCredentials>, next: ServingCredentials): void {
  const known = serving.value;
  if (known?.pair.cert !== next.pair.cert || known.clientCa !== next.clientCa) serving.set(next);
}

const reachedBy = ['server', 'ca', 'serverName', 'cert', 'key', 'token'] as const;

/** As publishServing(); answers whether they are others. */
export function publishApi(api: Latest<ClientOptions>, next: ClientOptions): boolean {
  const known = api.value;
  const isSame = known !== undefined && reachedBy.every((name) => known[name] === next[name]);
  if (!isSame) api.set(next);
  return !isSame;
}

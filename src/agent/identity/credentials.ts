import type { Latest } from '../../base/index.ts';
import type { Pair } from '../../base/x509/index.ts';
import type { ClientOptions } from '../../client/index.ts';

/** The certificate of the agent's HTTPS server, and the authority of its clients. */
export interface ServingCredentials {
  /** Certificate and key of this node, PEM. */
  pair: Pair;
  /** PEM of the authority against which clients' certificates are verified. */
  clientCa: string;
}

/** The node's credentials; each becomes available when it has been obtained, and is replaced before it expires. */
export interface Identity {
  /** How to reach the API as this node; never set in standalone mode. */
  readonly api: Latest<ClientOptions>;
  readonly serving: Latest<ServingCredentials>;
  /** What obtaining them waits for, and what an operator may do, in words; undefined while nothing is waited for. */
  waitsFor?(): string | undefined;
}

/** `system:node:NAME` of `system:nodes`: the name of a node's agent in the control plane. */
export function nodeSubject(node: string) {
  return { commonName: `system:node:${node}`, organizations: ['system:nodes'] };
}

/** Names of this machine itself, for local callers of the agent. */
export const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '::1'];

/** Sets the credentials unless they are unchanged: each change closes connections. */
export function publishServing(serving: Latest<ServingCredentials>, next: ServingCredentials): void {
  const known = serving.value;
  if (known?.pair.cert !== next.pair.cert || known.clientCa !== next.clientCa) serving.set(next);
}

const comparedFields = ['server', 'ca', 'serverName', 'cert', 'key', 'token'] as const;

/** Like publishServing(); returns whether the credentials have changed. */
export function publishApi(api: Latest<ClientOptions>, next: ClientOptions): boolean {
  const known = api.value;
  const isSame = known !== undefined && comparedFields.every((name) => known[name] === next[name]);
  if (!isSame) api.set(next);
  return !isSame;
}

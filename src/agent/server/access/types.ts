import type { TLSSocket } from 'node:tls';

/** Who calls the agent. */
export interface Caller {
  readonly name: string;
  /** Empty where nothing tells it. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
  /** Left out where no certificate told it. */
  readonly authenticatedBy?: 'certificate';
}

/** What a request shows of its sender. */
export interface Shown {
  readonly socket: TLSSocket;
  /** The header `Authorization`. */
  readonly authorization: string | undefined;
}

/** What a caller wants: a verb on a subresource of this node. */
export interface Wanted {
  readonly verb: string;
  /** Any of them will do; they are tried in this order. */
  readonly subresources: readonly string[];
}

/** It cannot be found out now; `message` says why. */
export interface Unknown {
  readonly decision: 'unknown';
  readonly message: string;
}

export type Verdict = { readonly decision: 'allow' | 'deny' } | Unknown;

/** Undefined: nobody that is known. */
export type Identified = Caller | Unknown | undefined;

/** Who calls the agent, and what they may. Both answer in bounded time and never reject. */
export interface Access {
  authenticate(shown: Shown): Promise<Identified>;
  authorize(caller: Caller, wanted: Wanted): Promise<Verdict>;
}

/** What the configuration says of it, now. */
export interface AccessSettings {
  /** Bearer tokens are reviewed by the control plane (authentication.webhook.enabled). */
  readonly tokens: boolean;
  /** How long such a review counts (cacheTTL); 0: not at all. */
  readonly tokenTtlMs: number;
  /** Who shows nothing is let in as nobody in particular (authentication.anonymous.enabled). */
  readonly anonymous: boolean;
  /** Whoever is known may do everything (authorization.mode: AlwaysAllow); else the control plane is asked. */
  readonly alwaysAllow: boolean;
  /** How long a yes counts (cacheAuthorizedTTL). */
  readonly allowedTtlMs: number;
  /** How long a no counts (cacheUnauthorizedTTL). */
  readonly deniedTtlMs: number;
}

import type { TLSSocket } from 'node:tls';

/** Who calls the agent. */
export interface Caller {
  readonly name: string;
  /** Empty where it is not known. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
  /** Present only where a certificate has authenticated the caller. */
  readonly authenticatedBy?: 'certificate';
}

/** The credentials of a request. */
export interface Credentials {
  readonly socket: TLSSocket;
  /** The header `Authorization`. */
  readonly authorization: string | undefined;
}

/** What a caller wants to do: a verb on a subresource of this node. */
export interface Wanted {
  readonly verb: string;
  /** Permission for any of them is enough; they are tried in this order. */
  readonly subresources: readonly string[];
}

/** It cannot be decided now; `message` says why. */
export interface Unknown {
  readonly decision: 'unknown';
  readonly message: string;
}

export type Verdict = { readonly decision: 'allow' | 'deny' } | Unknown;

/** Undefined: the caller is not known. */
export type Identified = Caller | Unknown | undefined;

/** Authenticates and authorizes callers of the agent. Both methods return in bounded time and never reject. */
export interface Access {
  authenticate(credentials: Credentials): Promise<Identified>;
  authorize(caller: Caller, wanted: Wanted): Promise<Verdict>;
}

/** The part of the configuration that concerns access. */
export interface AccessSettings {
  /** Bearer tokens are reviewed by the control plane (authentication.webhook.enabled). */
  readonly tokens: boolean;
  /** How long such a review is valid (cacheTTL); 0: it is not cached. */
  readonly tokenTtlMs: number;
  /** Callers without credentials are admitted as anonymous (authentication.anonymous.enabled). */
  readonly anonymous: boolean;
  /** Authenticated callers may do everything (authorization.mode: AlwaysAllow); else the control plane decides. */
  readonly alwaysAllow: boolean;
  /** How long a permission is valid (cacheAuthorizedTTL). */
  readonly allowedTtlMs: number;
  /** How long a denial is valid (cacheUnauthorizedTTL). */
  readonly deniedTtlMs: number;
}

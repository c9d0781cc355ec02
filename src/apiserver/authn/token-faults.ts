import { hash } from 'node:crypto';
import type { Clock } from '../../base/index.ts';
import type { SecretTokenClaims } from './secret-tokens.ts';
import type { Named, TokenClaims } from './token-claims.ts';

/** Where tokens find the objects that they speak of, as they are now. */
export interface TokenObjects {
  /** Undefined when there is none of that name; `namespace` is of no matter for a Node. */
  find(kind: TokenObjectKind, namespace: string, name: string): TokenObject | undefined;
  /** Comes to what was written up to now, where others write the same objects. Rejects when that cannot be had. */
  newest?(): Promise<void>;
}
export type TokenObjectKind = 'ServiceAccount' | 'Pod' | 'Secret' | 'Node';

export interface TokenObject {
  uid: string;
  /** From when on it is to be gone, though something may still hold it: wall clock, milliseconds. */
  goneMs: number | undefined;
  /** Of a Secret that holds a token of an account: its SHA-256 (base64url), and whether it has been put out of use. */
  token?: { digest: string; isInvalid: boolean };
}

export type Claims = TokenClaims | SecretTokenClaims;

/** How long the tokens of a deleted object linger; those that Secrets hold do not. */
const lingerMs = 60_000;

/** Creates a function that finds what is wrong with good claims of a token here and now; undefined: nothing. */
export function faultFinder({ clock, objects }: { clock: Clock; objects: TokenObjects }) {
  function ofHeld({ namespace, account, heldBy }: SecretTokenClaims, token: string): string | undefined {
    const { token: held, goneMs } = objects.find('Secret', namespace, heldBy) ?? {};
    const isHeld = goneMs === undefined && held?.digest === hash('sha256', token, 'base64url');
    if (!isHeld) return 'the Secret of the token is gone, or holds another one';
    if (held.isInvalid) return 'the token has been marked invalid by a label of its Secret';
    const found = objects.find('ServiceAccount', namespace, account.name);
    return found?.uid === account.uid && found.goneMs === undefined ? undefined : accountGone;
  }

  function ofRequested(claims: TokenClaims): string | undefined {
    const { namespace, account, pod, secret, node } = claims;
    const now = clock.now();
    const lives = (kind: TokenObjectKind, { name, uid = '' }: Partial<Named>) => {
      const object = objects.find(kind, namespace, name ?? '');
      return object?.uid === uid && (object.goneMs === undefined || now <= object.goneMs + lingerMs);
    };
    if (now >= claims.expiresAt * 1000) return 'the token has expired';
    if (!lives('ServiceAccount', account)) return accountGone;
    if (pod !== undefined && !lives('Pod', pod)) return gone('pod');
    if (secret !== undefined && !lives('Secret', secret)) return gone('secret');
    // beside a pod, the node only says where that runs
    if (pod === undefined && node !== undefined && !lives('Node', node)) return gone('node');
    return undefined;
  }

  return (claims: Claims, token: string): string | undefined =>
    'heldBy' in claims ? ofHeld(claims, token) : ofRequested(claims);
}

const accountGone = 'the service account of the token is gone';

function gone(what: string): string {
  return `the ${what} that the token is bound to is gone`;
}

import { hash } from 'node:crypto';
import type { Clock } from '../../base/index.ts';
import type { SecretTokenClaims } from './secret-tokens.ts';
import type { Named, TokenClaims } from './token-claims.ts';

/** Where tokens find the objects that they speak of, as they are now. */
export interface TokenObjects {
  /**
   * Undefined when there is none of that name; `unreadable`: there is one, but nothing is known of it. `namespace` is of no
   * matter for a Node.
   */
  find(kind: TokenObjectKind, namespace: string, name: string): TokenObject | 'unreadable' | undefined;
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
    const secret = objects.find('Secret', namespace, heldBy);
    if (secret === 'unreadable') return unreadable('Secret');
    const { token: held, goneMs } = secret ?? {};
    const isHeld = goneMs === undefined && held?.digest === hash('sha256', token, 'base64url');
    if (!isHeld) return 'the Secret of the token is gone, or holds another one';
    if (held.isInvalid) return 'the token has been marked invalid by a label of its Secret';
    const found = objects.find('ServiceAccount', namespace, account.name);
    if (found === 'unreadable') return unreadable(accountOfToken);
    return found?.uid === account.uid && found.goneMs === undefined ? undefined : gone(accountOfToken);
  }

  function ofRequested(claims: TokenClaims): string | undefined {
    const { namespace, account, pod, secret, node } = claims;
    const now = clock.now();
    const fault = (kind: TokenObjectKind, what: string, { name, uid = '' }: Partial<Named> = {}) => {
      const object = objects.find(kind, namespace, name ?? '');
      if (object === 'unreadable') return unreadable(what);
      const lives = object?.uid === uid && (object.goneMs === undefined || now <= object.goneMs + lingerMs);
      return lives ? undefined : gone(what);
    };
    if (now >= claims.expiresAt * 1000) return 'the token has expired';
    const bound = 'that the token is bound to';
    return (
      fault('ServiceAccount', accountOfToken, account) ??
      (pod && fault('Pod', `pod ${bound}`, pod)) ??
      (secret && fault('Secret', `secret ${bound}`, secret)) ??
      // beside a pod, the node only says where that runs
      (pod === undefined && node !== undefined ? fault('Node', `node ${bound}`, node) : undefined)
    );
  }

  return (claims: Claims, token: string): string | undefined =>
    'heldBy' in claims ? ofHeld(claims, token) : ofRequested(claims);
}

const accountOfToken = 'service account of the token';

const gone = (what: string) => `the ${what} is gone`;

const unreadable = (what: string) => `the ${what} cannot be read in the store`;

import type { User } from '../user.ts';
import { authenticatedGroup } from '../user.ts';
import type { OidcOptions } from './options.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Who holds a token with these claims; a text says why nobody does. The signature has been looked at before. */
export function userOf(claims: Claims, options: OidcOptions): User | { fault: string } {
  for (const [claim, text] of Object.entries(options.requiredClaims ?? {})) {
    if (own(claims, claim) !== text) return { fault: `its claim ${claim} is not as required` };
  }
  const { usernameClaim = 'sub', groupsClaim, groupsPrefix = '' } = options;
  const name = own(claims, usernameClaim);
  if (typeof name !== 'string' || name === '')
    return { fault: `it has no text as its claim ${usernameClaim}` };
  // an address that anybody could have entered says nothing
  if (usernameClaim === 'email' && (own(claims, 'email_verified') ?? true) !== true) {
    return { fault: 'its email address is not verified' };
  }
  const groups = groupsClaim === undefined ? [] : textsOf(own(claims, groupsClaim));
  if (groups === undefined)
    return { fault: `its claim ${groupsClaim} is neither a text nor a list of texts` };
  const prefixed = groups.map((group) => `${groupsPrefix}${group}`).filter((group) => !isReserved(group));
  const all = [...new Set([...prefixed, authenticatedGroup])];
  const full = `${usernamePrefix(options)}${name}`;
  if (isReserved(full))
    return { fault: 'its user name begins with system:, as only those of the cluster do' };
  return { name: full, groups: all, extra: {} };
}

/** Names of the cluster's own: an issuer must not make nodes or administrators. */
function isReserved(name: string): boolean {
  return name.startsWith('system:');
}

function own(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

function textsOf(value: unknown): readonly string[] | undefined {
  if (value === undefined) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.every((item) => typeof item === 'string') ? list : undefined;
}

function usernamePrefix({ usernamePrefix: prefix, usernameClaim, issuerUrl }: OidcOptions): string {
  if (prefix === '-') return '';
  if (prefix !== undefined && prefix !== '') return prefix;
  return usernameClaim === 'email' ? '' : `${issuerUrl}#`;
}

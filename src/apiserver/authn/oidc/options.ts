import { ExitError, exitCodes } from '../../../base/index.ts';

/** Whose ID tokens are taken (OpenID Connect Core 1.0), and who their holders are here. */
export interface OidcOptions {
  /** An https URL, exactly as it stands in the tokens as `iss`. */
  issuerUrl: string;
  /** Must be among the audiences of a token. */
  clientId: string;
  /** Default `sub`. */
  usernameClaim?: string | undefined;
  /** In front of every name; `-` is none. Default none for the claim `email`, else the issuer and `#`. */
  usernamePrefix?: string | undefined;
  /** A claim with a text or a list of texts; without it a token brings no groups. */
  groupsClaim?: string | undefined;
  groupsPrefix?: string | undefined;
  /** Claims that a token must have, with these texts. */
  requiredClaims?: Readonly<Record<string, string>> | undefined;
  /** Default RS256. */
  signingAlgs?: readonly string[] | undefined;
  /** PEM file of the authorities that the issuer's server is verified with; default those of the system. */
  caFile?: string | undefined;
}

/** Asymmetric ones only: with the others, every party that can verify a token can create one. */
export const signingAlgs = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'EdDSA',
];

/** Throws an ExitError with everything that is wrong. */
export function checkOidcOptions({ issuerUrl, clientId, signingAlgs: algs = [] }: OidcOptions): void {
  const problems: string[] = [];
  const url = URL.parse(issuerUrl);
  if (url === null || url.protocol !== 'https:') problems.push('the issuer must be an https URL');
  else if (url.search !== '' || url.hash !== '')
    problems.push('the issuer must have neither query nor fragment');
  if (clientId === '') problems.push('a client id is needed');
  const unknown = algs.filter((alg) => !signingAlgs.includes(alg));
  if (unknown.length > 0) {
    problems.push(`unknown signing algorithms ${unknown.join(', ')}: there are ${signingAlgs.join(', ')}`);
  }
  if (problems.length === 0) return;
  throw new ExitError(exitCodes.configuration, `OpenID Connect cannot be used: ${problems.join('; ')}`);
}

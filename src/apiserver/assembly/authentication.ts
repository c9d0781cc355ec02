import type { Clock, Logger } from '../../base/index.ts';
import type {
  Authenticator,
  BootstrapSecrets,
  OidcOptions,
  ServiceAccountTokens,
  TokenAuthenticator,
} from '../authn/index.ts';
import {
  anonymousAuthenticator,
  authenticatorChain,
  bearerAuthenticator,
  bootstrapAuthenticator,
  certificateAuthenticator,
  oidcAuthenticator,
  readTokenFile,
  serviceAccountAuthenticator,
  tokenAuthenticatorChain,
  tokenFileAuthenticator,
} from '../authn/index.ts';

/** How callers may say who they are, beside certificates of the cluster and tokens of service accounts. */
export interface AuthenticationOptions {
  /** A PEM file of further authorities whose client certificates are taken, see `readClientCa`. */
  clientCaFile?: string | undefined;
  /** A file of tokens with their users, see `readTokenFile`. */
  tokenFile?: string | undefined;
  /** Whether a request without any credential is from `system:anonymous`; default false: it is refused. */
  anonymous?: boolean | undefined;
  /** Whether new nodes may come with a bootstrap token; default true. */
  bootstrapTokens?: boolean | undefined;
  /** An issuer of ID tokens. */
  oidc?: OidcOptions | undefined;
}

export interface Authentication {
  /** Of requests, by whatever they bring along. */
  requests: Authenticator;
  /** Of tokens alone, without those of service accounts. */
  tokens: TokenAuthenticator;
}

interface Surroundings {
  accounts: ServiceAccountTokens;
  secrets: BootstrapSecrets;
  clock: Clock;
  log: Logger;
}

/** Throws an ExitError when a file that is given cannot be used. */
export async function createAuthentication(
  { tokenFile, anonymous = false, bootstrapTokens = true, oidc }: AuthenticationOptions,
  { accounts, secrets, clock, log }: Surroundings,
): Promise<Authentication> {
  const tokens = tokenAuthenticatorChain([
    ...(tokenFile === undefined ? [] : [tokenFileAuthenticator(await readTokenFile(tokenFile))]),
    ...(bootstrapTokens ? [bootstrapAuthenticator({ secrets, clock, log })] : []),
    ...(oidc === undefined ? [] : [await oidcAuthenticator(oidc, { clock, log })]),
  ]);
  const requests = authenticatorChain([
    certificateAuthenticator(() => clock.now()),
    bearerAuthenticator(tokenAuthenticatorChain([serviceAccountAuthenticator(accounts), tokens])),
    ...(anonymous ? [anonymousAuthenticator] : []),
  ]);
  return { requests, tokens };
}

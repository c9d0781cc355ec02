import { InvalidArgumentError, Option } from 'commander';
import type { ApiServerOptions } from '../../apiserver/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import { parseBoolean, parseFilePath } from './values.ts';

/** The flags of authentication, named like those of kube-apiserver. */
export interface AuthenticationFlags {
  clientCaFile?: string;
  tokenAuthFile?: string;
  anonymousAuth: boolean;
  enableBootstrapTokenAuth: boolean;
  oidcIssuerUrl?: string;
  oidcClientId?: string;
  oidcUsernameClaim?: string;
  oidcUsernamePrefix?: string;
  oidcGroupsClaim?: string;
  oidcGroupsPrefix?: string;
  oidcRequiredClaim?: Record<string, string>;
  oidcSigningAlgs?: string[];
  oidcCaFile?: string;
}

type Authentication = NonNullable<ApiServerOptions['authentication']>;

export const authenticationOptions = () => [
  new Option(
    '--client-ca-file <file>',
    'further authorities whose client certificates are accepted; reloaded when it changes',
  ).argParser(parseFilePath),
  new Option(
    '--token-auth-file <file>',
    'tokens with their users: lines of token,user,uid,"group1,group2"',
  ).argParser(parseFilePath),
  new Option('--anonymous-auth <bool>', 'treat requests without credentials as system:anonymous')
    .default(false)
    .argParser(parseBoolean),
  new Option('--enable-bootstrap-token-auth <bool>', 'let new nodes join with a bootstrap token')
    .default(true)
    .argParser(parseBoolean),
  new Option('--oidc-issuer-url <url>', 'OpenID Connect issuer whose ID tokens are accepted; https'),
  new Option('--oidc-client-id <id>', 'client for which the ID tokens must be issued'),
  new Option('--oidc-username-claim <claim>', 'claim with the user name (default: sub)'),
  new Option(
    '--oidc-username-prefix <prefix>',
    'prefix of user names; - for none (default: the issuer and #, none for the claim email)',
  ),
  new Option('--oidc-groups-claim <claim>', 'claim with the groups (default: no groups)'),
  new Option('--oidc-groups-prefix <prefix>', 'prefix of group names'),
  new Option(
    '--oidc-required-claim <claim=text>',
    'claim that ID tokens must have; may be repeated',
  ).argParser(parseRequiredClaim),
  new Option(
    '--oidc-signing-algs <list>',
    'accepted signature algorithms of ID tokens (default: RS256)',
  ).argParser((text) => text.split(',')),
  new Option(
    '--oidc-ca-file <file>',
    'certificate authorities of the issuer’s server (default: those of the system)',
  ).argParser(parseFilePath),
];

/** Throws an ExitError when there are flags of OpenID Connect, but not the two that it needs. */
export function readAuthenticationFlags(flags: AuthenticationFlags): Authentication {
  const { clientCaFile, tokenAuthFile: tokenFile, anonymousAuth: anonymous } = flags;
  const local = { clientCaFile, tokenFile, anonymous, bootstrapTokens: flags.enableBootstrapTokenAuth };
  const { oidcIssuerUrl: issuerUrl, oidcClientId: clientId } = flags;
  if (issuerUrl !== undefined && clientId !== undefined) {
    return { ...local, oidc: { ...optionalOidc(flags), issuerUrl, clientId } };
  }
  const given = Object.keys(flags).filter((name) => name.startsWith('oidc'));
  if (given.length === 0) return local;
  throw new ExitError(exitCodes.usage, 'OpenID Connect needs both --oidc-issuer-url and --oidc-client-id');
}

function optionalOidc(flags: AuthenticationFlags) {
  return {
    usernameClaim: flags.oidcUsernameClaim,
    usernamePrefix: flags.oidcUsernamePrefix,
    groupsClaim: flags.oidcGroupsClaim,
    groupsPrefix: flags.oidcGroupsPrefix,
    requiredClaims: flags.oidcRequiredClaim,
    signingAlgs: flags.oidcSigningAlgs,
    caFile: flags.oidcCaFile,
  };
}

function parseRequiredClaim(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be claim=text.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

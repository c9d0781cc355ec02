export { oidcAuthenticator } from './authenticator.ts';
export { type OidcOptions, signingAlgs } from './options.ts';

import type { Authenticator } from './authenticator.ts';
import type { User } from './user.ts';
import { anonymousName, unauthenticatedGroup } from './user.ts';

const nobody: User = { name: anonymousName, groups: [unauthenticatedGroup], extra: {} };
const forEver = { user: nobody, untilMs: Number.POSITIVE_INFINITY };

/**
 * Takes whoever shows no credential for `system:anonymous`. Last in a chain. A credential that is no good is never taken
 * for none: who has mistyped a token is to hear of it.
 */
export const anonymousAuthenticator: Authenticator = {
  authenticate: ({ socket, presented }) =>
    presented || socket.getPeerCertificate().subject !== undefined ? undefined : forEver,
};

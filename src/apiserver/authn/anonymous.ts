import type { Authenticator } from './authenticator.ts';
import type { User } from './user.ts';
import { anonymousName, unauthenticatedGroup } from './user.ts';

const nobody: User = { name: anonymousName, groups: [unauthenticatedGroup], extra: {} };
const forEver = { user: nobody, untilMs: Number.POSITIVE_INFINITY };

/**
 * Identifies requests without a credential as `system:anonymous`. Must be last in a chain. An invalid credential is never
 * treated as none, so that a client with a mistyped token gets an error.
 */
export const anonymousAuthenticator: Authenticator = {
  authenticate: ({ socket, presented }) =>
    presented || socket.getPeerCertificate().subject !== undefined ? undefined : forEver,
};

import { hash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import type { TokenAuthenticator } from './bearer.ts';
import type { BootstrapToken } from './bootstrap-secret.ts';
import {
  bootstrapNodeNames,
  bootstrappersGroup,
  bootstrapSecretPrefix,
  bootstrapTokenParts,
  readBootstrapSecret,
} from './bootstrap-secret.ts';
import type { User } from './user.ts';
import { authenticatedGroup } from './user.ts';

/** Where tokens are looked up, as they are now. */
export interface BootstrapSecrets {
  /** A Secret of the namespace kube-system. */
  find(name: string): Secret | undefined;
}

export interface BootstrapOptions {
  secrets: BootstrapSecrets;
  clock: Clock;
  log: Logger;
}

/**
 * Tokens `ID.SECRET` with which a new node requests its first certificate. A correct token that may not be used, because it
 * has expired or is for something else, is reported in the log; any other token is rejected without a reason.
 */
export function bootstrapAuthenticator({ secrets, clock, log }: BootstrapOptions): TokenAuthenticator {
  return {
    identify(token) {
      const parts = bootstrapTokenParts(token);
      const stored = parts && secrets.find(bootstrapSecretPrefix + parts.id);
      const known = stored && readBootstrapSecret(stored);
      if (known === undefined || parts === undefined || !isSame(known.secret, parts.secret)) return undefined;
      const isGoing = stored?.metadata?.deletionTimestamp !== undefined;
      const fault = isGoing ? 'its Secret is being deleted' : faultOf(known, clock.now());
      const user = userOf(known);
      if (fault === undefined) return { user, untilMs: known.untilMs };
      log.info({ user: user.name }, `a bootstrap token is refused: ${fault}`);
      return undefined;
    },
  };
}

function faultOf({ untilMs, mayAuthenticate }: BootstrapToken, now: number): string | undefined {
  if (now >= untilMs) return 'it has expired';
  return mayAuthenticate ? undefined : 'it is not for authentication';
}

function userOf({ id, groups, nodeNames }: BootstrapToken): User {
  const all = [bootstrappersGroup, ...groups, authenticatedGroup];
  const extra = nodeNames === undefined ? {} : { [bootstrapNodeNames]: nodeNames };
  return { name: `system:bootstrap:${id}`, groups: all, extra };
}

/** Compares in a time that does not depend on where the two differ. */
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(hash('sha256', left, 'buffer'), hash('sha256', right, 'buffer'));
}

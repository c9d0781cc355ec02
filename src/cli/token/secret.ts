import { randomInt } from 'node:crypto';
import type { Secret } from '../../api/index.ts';
import {
  bootstrapNamespace,
  bootstrapSecretPrefix,
  bootstrapSecretType,
} from '../../apiserver/authn/index.ts';

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A new bootstrap token; 82 random bits are its secret. */
export function newToken(): { id: string; secret: string } {
  return { id: letters(6), secret: letters(16) };
}

export interface TokenWish {
  id: string;
  secret: string;
  /** Wall clock, milliseconds. */
  untilMs: number;
  groups: readonly string[];
  /** The nodes that it can be used for; empty: any. */
  nodeNames: readonly string[];
  description: string | undefined;
}

/** How a control plane keeps the token. */
export function tokenSecret({ id, secret, untilMs, groups, nodeNames, description }: TokenWish): Secret {
  return {
    metadata: { name: bootstrapSecretPrefix + id, namespace: bootstrapNamespace },
    type: bootstrapSecretType,
    stringData: {
      'token-id': id,
      'token-secret': secret,
      expiration: new Date(untilMs).toISOString(),
      'usage-bootstrap-authentication': 'true',
      ...(groups.length === 0 ? {} : { 'auth-extra-groups': groups.join(',') }),
      ...(nodeNames.length === 0 ? {} : { 'node-names': nodeNames.join(',') }),
      ...(description === undefined ? {} : { description }),
    },
  };
}

function letters(count: number): string {
  return Array.from({ length: count }, () => alphabet[randomInt(alphabet.length)]).join('');
}

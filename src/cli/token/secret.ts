import { randomInt } from 'node:crypto';
import type { Secret } from '../../api/index.ts';
import {
  bootstrapNamespace,
  bootstrapSecretPrefix,
  bootstrapSecretType,
} from '../../apiserver/authn/index.ts';

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A new bootstrap token; its secret has 82 random bits. */
export function generateToken(): { id: string; secret: string } {
  return { id: randomText(6), secret: randomText(16) };
}

interface NewToken {
  id: string;
  secret: string;
  /** Wall clock, milliseconds. */
  untilMs: number;
  groups: readonly string[];
  /** The nodes that may join with it; empty: any. */
  nodeNames: readonly string[];
  description: string | undefined;
}

/** The Secret in which a control plane stores the token. */
export function toSecret({ id, secret, untilMs, groups, nodeNames, description }: NewToken): Secret {
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

function randomText(count: number): string {
  return Array.from({ length: count }, () => alphabet[randomInt(alphabet.length)]).join('');
}

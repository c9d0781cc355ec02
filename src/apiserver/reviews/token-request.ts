import { randomUUID } from 'node:crypto';
import type { TokenRequest } from '../../api/index.ts';
import { formatTime, serviceAccountKind, tokenRequest } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { ServiceAccountTokens } from '../authn/index.ts';
import type { TokenRestriction } from '../authz/index.ts';
import type { Operation } from '../registry/index.ts';
import { bindTo } from './bound-object.ts';
import { withoutStatus } from './question.ts';

export interface TokenOptions {
  tokens: ServiceAccountTokens;
  mayHaveToken: TokenRestriction;
  clock: Clock;
}

/**
 * The life that the volumes ask for which pods get by themselves. Their tokens for the API are good for a year, or until the
 * pod ends: old programs read theirs only once. The answer tells the life asked for, by which nodes replace them.
 */
const warnOnlySeconds = 3607;
const extendedSeconds = 365 * 24 * 3600;

/** serviceaccounts/token: a token of a service account, optionally bound to another object. */
export function serviceAccountToken({ tokens, mayHaveToken, clock }: TokenOptions): Operation<TokenRequest> {
  return {
    body: tokenRequest,
    prepare: ({ body }) => withoutStatus(body),
    async run({ registry, namespace, name, body, context }) {
      const accounts = registry.of(serviceAccountKind);
      const { uid = '' } = accounts.encoding.read(accounts.get(namespace, name)).metadata ?? {};
      const { expirationSeconds = 0, boundObjectRef } = body.spec;
      await mayHaveToken(context.user, { namespace, name }, body.spec);
      const audiences = body.spec.audiences.length > 0 ? body.spec.audiences : [...tokens.audiences];
      const now = clock.now();
      const issuedAt = Math.floor(now / 1000);
      const expiresAt = issuedAt + expirationSeconds;
      const bound = bindTo(registry, { namespace, name }, boundObjectRef);
      const isOwn = audiences.every((audience) => tokens.audiences.includes(audience));
      const isExtended = expirationSeconds === warnOnlySeconds && isOwn && bound.pod !== undefined;
      const token = await tokens.issue({
        id: randomUUID(),
        audiences,
        issuedAt,
        ...(isExtended ? { expiresAt: issuedAt + extendedSeconds, warnAfter: expiresAt } : { expiresAt }),
        namespace,
        account: { name, uid },
        ...bound,
      });
      const object = {
        ...body,
        metadata: { name, namespace, creationTimestamp: formatTime(now) },
        spec: { ...body.spec, audiences },
        status: { token, expirationTimestamp: formatTime(expiresAt * 1000) },
      };
      return { object };
    },
  };
}

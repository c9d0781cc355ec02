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

/** serviceaccounts/token: a token of a service account, optionally bound to another object. */
export function serviceAccountToken({ tokens, mayHaveToken, clock }: TokenOptions): Operation<TokenRequest> {
  return {
    body: tokenRequest,
    prepare: ({ body }) => withoutStatus(body),
    async run({ registry, namespace, name, body, context }) {
      const accounts = registry.of(serviceAccountKind);
      const { uid = '' } = accounts.encoding.read(accounts.get(namespace, name)).metadata ?? {};
      const { expirationSeconds = 0, boundObjectRef } = body.spec;
      mayHaveToken(context.user, { namespace, name }, boundObjectRef);
      const audiences = body.spec.audiences.length > 0 ? body.spec.audiences : [...tokens.audiences];
      const now = clock.now();
      const issuedAt = Math.floor(now / 1000);
      const expiresAt = issuedAt + expirationSeconds;
      const token = await tokens.issue({
        id: randomUUID(),
        audiences,
        issuedAt,
        expiresAt,
        namespace,
        account: { name, uid },
        ...bindTo(registry, { namespace, name }, boundObjectRef),
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

import assert from 'node:assert/strict';
import type { ApiObject, SubjectAccessReviewStatus } from '../../../../src/api/index.ts';
import { resolveGates } from '../../../../src/api/index.ts';
import type { User } from '../../../../src/apiserver/authn/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import type { Attributes, Authorizer, Decision } from '../../../../src/apiserver/authz/index.ts';
import type { Operation, Registry } from '../../../../src/apiserver/registry/index.ts';
import { runOperation } from '../../../../src/apiserver/registry/index.ts';

export const reviews = '/apis/authorization.k8s.io/v1';
export const authentication = '/apis/authentication.k8s.io/v1';

/** An authorizer that always answers the same and notes what it was asked. */
export function scripted(answer: Partial<Decision>) {
  const asked: { user: User; attributes: Attributes }[] = [];
  const authorizer: Authorizer = {
    async authorize(user, attributes) {
      asked.push({ user, attributes });
      return { verdict: 'noOpinion', reason: '', errors: [], ...answer };
    },
  };
  return { authorizer, asked };
}

export interface Asking {
  /** Whether the gate AuthorizeWithSelectors is on. */
  selectors?: boolean;
  namespace?: string;
  user?: User;
}

/** Runs a review without a server; the whole object that is answered. */
export async function ask<B extends ApiObject>(
  operation: Operation<B>,
  body: object,
  { selectors = false, namespace = '', user = controlPlaneUser }: Asking = {},
): Promise<Record<string, unknown>> {
  const registry: Registry = {
    groupSuffix: 'k8s.io',
    gates: resolveGates({ AuthorizeWithSelectors: selectors }),
    ledger: undefined,
    resources: [],
    of: (kind) => assert.fail(`a review needs no ${kind.kind}`),
    operation: () => undefined,
  };
  const context = { user, dryRun: false, warn: () => undefined };
  const result = await runOperation(operation, { registry, namespace, name: '', body, context });
  assert.ok('object' in result);
  return { ...result.object };
}

/** The same, of a review of access. */
export async function statusOf(
  ...asked: Parameters<typeof ask>
): Promise<Partial<SubjectAccessReviewStatus>> {
  const { status } = await ask(...asked);
  assert.ok(typeof status === 'object' && status !== null);
  return status;
}

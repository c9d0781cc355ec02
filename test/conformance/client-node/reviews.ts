import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AuthenticationV1Api, AuthorizationV1Api, CoreV1Api } from '@kubernetes/client-node';
import type { OpenCluster } from './cluster.ts';

export function reviewsSuite(cluster: OpenCluster): void {
  describe('reviews', () => {
    test('who may do what', async () => {
      const authorization = cluster().config.makeApiClient(AuthorizationV1Api);
      const namespace = await cluster().namespace();
      const resourceAttributes = { namespace, verb: 'get', resource: 'pods' };
      const self = await authorization.createSelfSubjectAccessReview({
        body: { spec: { resourceAttributes } },
      });
      assert.equal(self.status?.allowed, true);
      const spec = { resourceAttributes, user: 'nobody-in-particular' };
      const other = await authorization.createSubjectAccessReview({ body: { spec } });
      assert.equal(other.status?.allowed, false);
      const local = await authorization.createNamespacedLocalSubjectAccessReview({
        namespace,
        body: { metadata: { namespace }, spec },
      });
      assert.equal(local.status?.allowed, false);
      const rules = await authorization.createSelfSubjectRulesReview({ body: { spec: { namespace } } });
      assert.ok(rules.status?.resourceRules.some(({ verbs }) => verbs.includes('*')));
    });

    test('who am I, and whose is this token', async () => {
      const { config } = cluster();
      const authentication = config.makeApiClient(AuthenticationV1Api);
      const me = await authentication.createSelfSubjectReview({ body: {} });
      assert.equal(me.status?.userInfo?.username, 'kubernetes-admin');
      assert.ok(me.status?.userInfo?.groups?.includes('system:masters'));

      const core = config.makeApiClient(CoreV1Api);
      const namespace = await cluster().namespace();
      await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'robot' } } });
      const { status } = await core.createNamespacedServiceAccountToken({
        namespace,
        name: 'robot',
        body: { spec: { audiences: [], expirationSeconds: 600 } },
      });
      assert.ok(status?.token && status.expirationTimestamp instanceof Date);
      const { token } = status;
      const review = await authentication.createTokenReview({ body: { spec: { token } } });
      assert.equal(review.status?.authenticated, true);
      assert.equal(review.status.user?.username, `system:serviceaccount:${namespace}:robot`);
    });
  });
}

import fc from 'fast-check';
import type { PolicyRule, Subject } from '../../../../../src/api/index.ts';
import type { User } from '../../../../../src/apiserver/authn/index.ts';
import { serviceAccountUser } from '../../../../../src/apiserver/authn/index.ts';
import type { Attributes } from '../../../../../src/apiserver/authz/index.ts';
import type { Policy } from './policy.ts';

/*
 * Policies that change, and questions about them. Few different names, so that much of what is asked for meets something.
 */

const some = (...values: string[]) => fc.constantFrom(...values);
const several = (...values: string[]) => fc.array(some(...values), { minLength: 1, maxLength: 2 });
export const namespaces = ['', 'a', 'b'];
const names = ['x', 'y', ''];

const resourceRule: fc.Arbitrary<PolicyRule> = fc.record({
  verbs: several('get', 'get', 'list', 'create', 'deletecollection', '*', '*'),
  apiGroups: several('', 'apps', '*'),
  resources: several('pods', 'pods', 'pods/log', '*/log', 'nodes', 'pods/*', '*'),
  resourceNames: fc.array(some('x', 'y'), { maxLength: 1 }),
});
const pathRule: fc.Arbitrary<PolicyRule> = fc.record({
  verbs: several('get', 'post', '*'),
  nonResourceURLs: several('/api', '/api/*', '/api/v1', '/', '/*', '*', '/metrics'),
});
export const rules = fc.array(fc.oneof({ weight: 3, arbitrary: resourceRule }, pathRule), { maxLength: 4 });

const subject: fc.Arbitrary<Subject> = fc
  .record({
    kind: some('User', 'User', 'Group', 'Group', 'ServiceAccount', 'ServiceAccount', 'Robot'),
    name: some(
      'jane',
      'devs',
      'bot',
      'system:serviceaccount:a:bot',
      'system:serviceaccounts',
      'system:serviceaccounts:a',
      'system:authenticated',
    ),
    namespace: some('', '', 'a', 'b'),
  })
  .map(({ namespace, ...rest }) => (namespace === '' ? rest : { ...rest, namespace }));

const person: fc.Arbitrary<User> = fc.record({
  name: some('jane', 'bot', 'system:serviceaccount:a:bot', 'system:serviceaccount:b:bot', ''),
  groups: fc.array(some('devs', 'devs', 'jane', 'bot', 'system:serviceaccounts:a'), { maxLength: 2 }),
  extra: fc.constant({}),
});
/** With the groups that a token of it brings. */
const account: fc.Arbitrary<User> = some('a', 'b').map((namespace) =>
  serviceAccountUser({ namespace, name: 'bot', uid: '1' }, {}),
);
export const user = fc.oneof({ weight: 3, arbitrary: person }, account);

const requirement = fc.record({
  field: some('metadata.name', 'metadata.namespace'),
  operator: fc.constantFrom('=' as const, '!=' as const),
  value: some('x', 'y', 'a'),
});
export const attributes: fc.Arbitrary<Attributes> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      {
        verb: some('get', 'get', 'list', 'create', 'deletecollection', 'watch', '*'),
        group: some('', '', 'apps', '*'),
        version: fc.constant('v1'),
        resource: some('pods', 'pods', 'nodes', '*'),
        subresource: some('', '', 'log', '*'),
        namespace: some(...namespaces),
        name: some(...names),
        selectors: fc.record({
          fields: fc.array(requirement, { maxLength: 2 }),
          labels: fc.constant([]),
        }),
      },
      { requiredKeys: ['verb', 'group', 'version', 'resource', 'subresource', 'namespace', 'name'] },
    ),
  },
  fc.record({
    verb: some('get', 'post', '*'),
    path: some('/api', '/api/', '/api/v1', '/', '/metrics', '*', '/api/*'),
  }),
);

/** One thing that happens; as data, so that a failure can be read. */
export interface Step {
  role?: Parameters<Policy['role']>;
  bind?: Parameters<Policy['bind']>;
  ask?: [User, Attributes];
}

export const roleStep: fc.Arbitrary<Step> = fc.record({
  role: fc.tuple(some(...namespaces), some('r1', 'r2'), fc.option(rules, { nil: undefined, freq: 8 })),
});
export const bindStep: fc.Arbitrary<Step> = fc.record({
  bind: fc.tuple(
    some(...namespaces),
    some('b1', 'b2', 'b3'),
    fc.record({ kind: some('Role', 'ClusterRole', 'ClusterRole'), name: some('r1', 'r2') }),
    fc.option(fc.array(subject, { maxLength: 5 }), { nil: undefined, freq: 8 }),
  ),
});
export const askStep: fc.Arbitrary<Step> = fc.record({ ask: fc.tuple(user, attributes) });

/** Enough roles and bindings for something to be allowed. */
export const beginning = fc.array(fc.oneof(roleStep, bindStep), { minLength: 20, maxLength: 20 });

/** Changes the policy as a step says; questions are for whoever asks. */
export function applyStep(policy: Policy, { role, bind }: Step): void {
  if (role !== undefined) policy.role(...role);
  if (bind !== undefined) policy.bind(...bind);
}

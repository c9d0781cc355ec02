import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { PolicyRule } from '../src/api/index.ts';
import type { User } from '../src/apiserver/authn/index.ts';
import type { Attributes, RbacAuthorizer } from '../src/apiserver/authz/index.ts';
import { PolicyIndex, rbacAuthorizer } from '../src/apiserver/authz/index.ts';

/** Who asks: a user with three bindings of their own, in three groups of which one has some. */
export const asker: User = {
  name: 'user-0',
  groups: ['group-0', 'devs', 'system:authenticated'],
  extra: {},
};

const pods = {
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'ns-0',
  name: 'x',
};

export const questions = {
  allowed: pods,
  refused: { ...pods, verb: 'delete', resource: 'secrets' },
  'a subresource, allowed': { ...pods, subresource: 'log' },
  'a path, refused': { verb: 'get', path: '/metrics' },
} satisfies Record<string, Attributes>;

const group = 'rbac.authorization.k8s.io';
const roleCount = 50;
const namespaceCount = 100;

const read = (resource: string): PolicyRule => ({
  verbs: ['get', 'list', 'watch'],
  apiGroups: [''],
  resources: [resource, `${resource}/log`],
});
const rules = [read('pods'), read('configmaps'), read('services'), { ...read('nodes'), apiGroups: ['apps'] }];

/** So many bindings of fifty roles: one in ten counts everywhere, one in five is for a group. */
export function policyOf(count: number): { authorizer: RbacAuthorizer; bytesPerBinding: number } {
  const index = new PolicyIndex({ has: () => true, read: () => rules });
  const keys = Array.from(
    { length: count },
    (_, number) => `/registry/rolebindings/ns-${number}/b-${number}`,
  );
  const before = heapBytes();
  for (let number = 0; number < count; number++) {
    const kind = number % 5 === 0 ? 'Group' : 'User';
    const namespace = number % 10 === 0 ? '' : `ns-${number % namespaceCount}`;
    const name = `${kind.toLowerCase()}-${number < 6 ? 0 : number}`;
    const roleRef = { apiGroup: group, kind: 'ClusterRole', name: `role-${number % roleCount}` };
    index.setBinding(keys[number] ?? '', namespace, { roleRef, subjects: [{ kind, name }] });
  }
  const bytesPerBinding = (heapBytes() - before) / count;
  const authorizer = rbacAuthorizer(() => index, group);
  if (index.size !== count) throw new Error(`${index.size} bindings instead of ${count}`);
  return { authorizer, bytesPerBinding };
}

/** The asker has so many rules: in a role each, or all in one role and each for one object. */
export function richPolicyOf(count: number, inOneRole: boolean): RbacAuthorizer {
  const rule = (number: number): PolicyRule =>
    inOneRole
      ? { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: [`x-${number}`] }
      : { verbs: ['get'], apiGroups: [''], resources: [`kind-${number}`] };
  const all = Array.from({ length: count }, (_, number) => rule(number));
  const read = ({ name }: { name: string }) => (inOneRole ? all : [rule(Number(name))]);
  const index = new PolicyIndex({ has: () => true, read });
  for (let number = 0; number < (inOneRole ? 1 : count); number++) {
    const roleRef = { apiGroup: group, kind: 'ClusterRole', name: String(number) };
    index.setBinding(`/registry/b-${number}`, '', {
      roleRef,
      subjects: [{ kind: 'User', name: asker.name }],
    });
  }
  return rbacAuthorizer(() => index, group);
}

setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

/** What is alive. */
function heapBytes(): number {
  if (typeof collectGarbage === 'function') collectGarbage();
  return process.memoryUsage().heapUsed;
}

export function decisionsPerSecond(authorizer: RbacAuthorizer, user: User, asked: Attributes): number {
  const repeat = 200_000;
  for (let warm = 0; warm < 50_000; warm++) authorizer.authorize(user, asked);
  const startedMs = performance.now();
  for (let done = 0; done < repeat; done++) authorizer.authorize(user, asked);
  return (repeat * 1000) / (performance.now() - startedMs);
}

/** Of one decision: few enough are made that the garbage collector does not come in between. */
export function allocatedBytes(authorizer: RbacAuthorizer, user: User, asked: Attributes): number {
  const repeat = 2_000;
  const kept = new Array(repeat);
  const before = heapBytes();
  for (let done = 0; done < repeat; done++) kept[done] = authorizer.authorize(user, asked).verdict;
  return (process.memoryUsage().heapUsed - before) / repeat;
}

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { AccessDiffStatus, AccessRight, PolicyRule, Subject } from '../../../../../src/api/index.ts';
import { computeAccessDiff } from '../../../../../src/apiserver/access-answers/diff/compute-diff.ts';
import type {
  ChangedBinding,
  ChangedRole,
} from '../../../../../src/apiserver/access-answers/diff/policy-change.ts';
import { roleKey } from '../../../../../src/apiserver/access-answers/diff/policy-change.ts';
import { serviceAccountUserName } from '../../../../../src/apiserver/authn/index.ts';
import type { Attributes } from '../../../../../src/apiserver/authz/index.ts';
import { CompiledRules, questionOf } from '../../../../../src/apiserver/authz/index.ts';
import { decideNaively } from '../../../../support/naive-rbac.ts';
import { rule, toJane } from '../../authz/rbac/ask.ts';
import { Policy } from '../../authz/rbac/policy.ts';

/** What changes when a policy becomes another one. */
async function diff(before: Policy, after: Policy): Promise<AccessDiffStatus> {
  const bindings = new Map<string, ChangedBinding>();
  for (const key of new Set([...before.bindings.keys(), ...after.bindings.keys()])) {
    const [old, next] = [before.bindings.get(key), after.bindings.get(key)];
    if (JSON.stringify(old) === JSON.stringify(next)) continue;
    bindings.set(key, {
      namespace: (old ?? next)?.namespace ?? '',
      before: old?.subjects ?? [],
      after: next,
    });
  }
  const roles = new Map<string, ChangedRole>();
  for (const key of new Set([...before.roles.keys(), ...after.roles.keys()])) {
    const [old, next] = [before.roles.get(key), after.roles.get(key)];
    if (JSON.stringify(old) === JSON.stringify(next)) continue;
    const { namespace = '', name = '' } = old ?? next ?? {};
    const id = { kind: namespace === '' ? 'ClusterRole' : 'Role', namespace, name };
    roles.set(roleKey(id), { id, rules: next?.rules });
  }
  const reader = {
    has: (id: { kind: string; namespace: string; name: string }) => before.roles.has(roleKey(id)),
    read: (id: { kind: string; namespace: string; name: string }) => before.roles.get(roleKey(id))?.rules,
  };
  return await computeAccessDiff(before.index, reader, { bindings, roles });
}

const readers = { kind: 'ClusterRole', name: 'readers' };
const getPods = rule();
const jane = { kind: 'User', name: 'jane' };

describe('what a change of roles and bindings gives and takes', () => {
  test('is told of those whom a binding is for', async () => {
    const before = new Policy().role('', 'readers', [getPods]);
    const after = new Policy().role('', 'readers', [getPods]).bind('team', 'b', readers, toJane);
    assert.deepEqual(await diff(before, after), {
      changes: [{ subject: jane, gains: [{ namespace: 'team', rule: getPods }] }],
    });
    assert.deepEqual((await diff(after, before)).changes, [
      { subject: jane, loses: [{ namespace: 'team', rule: getPods }] },
    ]);
  });

  test('is nothing where another binding, or a group that one is always in, gives the same', async () => {
    const base = () => new Policy().role('', 'readers', [getPods]).role('', 'all', [rule({ verbs: ['*'] })]);
    const all = { kind: 'ClusterRole', name: 'all' };
    const held = [
      base().bind('', 'a', readers, toJane),
      base().bind('', 'a', all, toJane),
      base().bind('team', 'a', all, toJane),
      base().bind('', 'a', readers, [{ kind: 'Group', name: 'system:authenticated' }]),
    ];
    for (const before of held) {
      const after = base();
      for (const each of before.bindings.values()) {
        after.bind(each.namespace, each.name, each.roleRef, each.subjects);
      }
      after.bind('team', 'b', readers, toJane);
      assert.deepEqual(await diff(before, after), {});
      assert.deepEqual(await diff(after, before), {});
    }
  });

  test('is told of everybody who has a role that changes, in every namespace', async () => {
    const given = (...rules: PolicyRule[]) =>
      new Policy()
        .role('', 'readers', rules)
        .bind('', 'all', readers, [{ kind: 'Group', name: 'devs' }])
        .bind('a', 'b', readers, [{ kind: 'ServiceAccount', name: 'bot' }])
        .bind('b', 'b', readers, toJane);
    const { changes = [] } = await diff(given(getPods), given(rule({ verbs: ['get', 'list'] })));
    const gained = rule({ verbs: ['list'] });
    assert.deepEqual(changes, [
      { subject: jane, gains: [{ namespace: 'b', rule: gained }] },
      {
        subject: { kind: 'ServiceAccount', namespace: 'a', name: 'bot' },
        gains: [{ namespace: 'a', rule: gained }],
      },
      { subject: { kind: 'Group', name: 'devs' }, gains: [{ rule: gained }] },
    ]);
  });

  test('names the namespaces where somebody keeps what is lost everywhere else', async () => {
    const before = new Policy()
      .role('', 'readers', [getPods, rule({ resources: ['nodes'] })])
      .bind('', 'b', readers, toJane);
    const after = new Policy()
      .role('', 'readers', [getPods, rule({ resources: ['nodes'] })])
      .role('team', 'pods', [getPods])
      .bind('team', 'b', { kind: 'Role', name: 'pods' }, toJane);
    assert.deepEqual((await diff(before, after)).changes, [
      {
        subject: jane,
        loses: [{ rule: getPods, exceptIn: ['team'] }, { rule: rule({ resources: ['nodes'] }) }],
      },
    ]);
  });

  test('passes over what a rule never allows: names with create and deletecollection', async () => {
    const useless = rule({ verbs: ['create', 'deletecollection'], resourceNames: ['x'] });
    const after = new Policy().role('', 'readers', [useless]).bind('', 'b', readers, toJane);
    assert.deepEqual(await diff(new Policy().role('', 'readers', [useless]), after), {});
  });

  test('says that members of system:masters need no role', async () => {
    const after = new Policy()
      .role('', 'readers', [getPods])
      .bind('', 'b', readers, [{ kind: 'Group', name: 'system:masters' }]);
    const { changes, errors } = await diff(new Policy().role('', 'readers', [getPods]), after);
    assert.equal(changes, undefined);
    assert.match(errors?.[0] ?? '', /system:masters may do everything/);
  });

  test('is bounded, and says what it leaves out', async () => {
    const subjects = Array.from({ length: 1_200 }, (_, number) => ({ kind: 'User', name: `u-${number}` }));
    const rules = Array.from({ length: 150 }, (_, number) =>
      rule({ verbs: [`v${number}`], resources: [`r${number}`] }),
    );
    const before = new Policy().role('', 'readers', rules);
    const after = new Policy().role('', 'readers', rules).bind('', 'b', readers, subjects);
    const { changes = [], moreSubjects, truncated } = await diff(before, after);
    assert.deepEqual([changes.length, moreSubjects, truncated], [1_000, 200, true]);
    assert.deepEqual([changes[0]?.gains?.length, changes[0]?.moreRights], [100, 50]);
    const told = changes.reduce((sum, { gains = [] }) => sum + gains.length, 0);
    assert.equal(told, 5_000);
    assert.equal(changes.at(-1)?.moreRights, 150);
  });
});

const some = (...values: string[]) => fc.constantFrom(...values);
const several = (...values: string[]) => fc.array(some(...values), { minLength: 1, maxLength: 2 });
const resourceRule: fc.Arbitrary<PolicyRule> = fc.record({
  verbs: several('get', 'create', 'deletecollection', 'list', '*'),
  apiGroups: several('', 'apps', '*'),
  resources: several('pods', 'pods/log', '*/log', '*'),
  resourceNames: fc.array(some('x', 'y'), { maxLength: 2 }),
});
const pathRule: fc.Arbitrary<PolicyRule> = fc.record({
  verbs: several('get', '*'),
  nonResourceURLs: several('/api', '/api/*', '*'),
});
const subject: fc.Arbitrary<Subject> = fc.oneof(
  fc.record({
    kind: some('User', 'Group'),
    name: some('jane', 'bot', 'system:authenticated', 'system:serviceaccounts'),
  }),
  fc.record({ kind: fc.constant('ServiceAccount'), name: fc.constant('bot') }),
  fc.record({ kind: fc.constant('ServiceAccount'), name: fc.constant('bot'), namespace: fc.constant('a') }),
);
const binding = fc.tuple(
  some('', 'a', 'b'),
  some('b1', 'b2'),
  fc.record({ kind: some('Role', 'ClusterRole'), name: some('r1', 'r2') }),
  fc.array(subject, { minLength: 1, maxLength: 3 }),
);
const role = fc.tuple(
  some('', 'a', 'b'),
  some('r1', 'r2'),
  fc.array(fc.oneof({ weight: 4, arbitrary: resourceRule }, pathRule), { minLength: 1, maxLength: 3 }),
);
const policy = fc
  .tuple(fc.array(role, { minLength: 2, maxLength: 5 }), fc.array(binding, { maxLength: 4 }))
  .map(([roles, bindings]) => {
    const made = new Policy();
    for (const each of roles) made.role(...each);
    for (const each of bindings) made.bind(...each);
    return made;
  });

/** Everybody who can be meant, with the groups that they are always in. */
const everybody = ['jane', 'bot', 'system:authenticated', 'system:serviceaccounts'].flatMap((name) => {
  const accounts = (namespace: string) => ({
    told: `ServiceAccount ${namespace}/${name}`,
    user: {
      name: serviceAccountUserName(namespace, name),
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      extra: {},
    },
  });
  return [
    { told: `User ${name}`, user: { name, groups: ['system:authenticated'], extra: {} } },
    {
      told: `Group ${name}`,
      user: { name: '', groups: [...new Set([name, 'system:authenticated'])], extra: {} },
    },
    ...(name === 'bot' ? [accounts('a'), accounts('b')] : []),
  ];
});

/** Each value that a policy can say, and for what a `*` stands for one that none says. */
const questions: Attributes[] = [
  ...['get', 'create', 'deletecollection', 'list', 'other'].flatMap((verb) =>
    ['', 'apps', 'other'].flatMap((group) =>
      ['pods', 'other'].flatMap((resource) =>
        ['', 'log', 'other'].flatMap((subresource) =>
          ['', 'a', 'b', 'other'].flatMap((namespace) =>
            ['', 'x', 'y', 'other'].map((name) => ({
              verb,
              group,
              version: 'v1',
              resource,
              subresource,
              namespace,
              name,
            })),
          ),
        ),
      ),
    ),
  ),
  ...['get', 'other'].flatMap((verb) => ['/api', '/api/x', '/x'].map((path) => ({ verb, path }))),
];

function isAbout({ namespace = '', rule: told, exceptIn = [] }: AccessRight, asked: Attributes): boolean {
  const where = 'path' in asked ? '' : asked.namespace;
  if ((namespace !== '' && namespace !== where) || exceptIn.includes(where)) return false;
  return questionOf(asked).isAllowedBy(new CompiledRules([told]));
}

test('a right is told exactly where some question has another answer then', async () => {
  let changed = 0;
  const property = fc.asyncProperty(policy, policy, async (before, after) => {
    const { changes = [], truncated, errors } = await diff(before, after);
    assert.deepEqual([truncated, errors], [undefined, undefined]);
    const found = new Map(
      changes.map((change) => {
        const { kind, namespace, name } = change.subject;
        return [`${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`, change];
      }),
    );
    const sides = [before, after].map(({ roles, bindings }) => ({
      roles: [...roles.values()],
      bindings: [...bindings.values()],
    }));
    const rightsOf = (told: string, way: 'gains' | 'loses') => found.get(told)?.[way] ?? [];
    for (const { told, user } of everybody) {
      const ofGroups = user.groups
        .filter((group) => `Group ${group}` !== told)
        .map((group) => `Group ${group}`);
      for (const [way, from, to] of [
        ['gains', sides[0], sides[1]],
        ['loses', sides[1], sides[0]],
      ] as const) {
        assert.ok(from && to);
        const own = rightsOf(told, way);
        const shown = new Set<AccessRight>();
        const all = [...own, ...ofGroups.flatMap((group) => rightsOf(group, way))];
        for (const asked of questions) {
          const isOther = !decideNaively(from, user, asked).allowed && decideNaively(to, user, asked).allowed;
          if (!isOther) continue;
          changed++;
          assert.ok(
            all.some((right) => isAbout(right, asked)),
            `${told} ${way} ${JSON.stringify(asked)}: ${JSON.stringify(all)}`,
          );
          for (const right of own) if (isAbout(right, asked)) shown.add(right);
        }
        for (const right of own)
          assert.ok(shown.has(right), `${told} ${way} nothing by ${JSON.stringify(right)}`);
      }
    }
  });
  await fc.assert(property, { numRuns: 60 });
  assert.ok(changed > 1_000, `only ${changed} answers changed: the test asks for too little`);
});

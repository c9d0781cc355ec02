import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Decision } from '../../../../src/apiserver/authz/index.ts';
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  subjectAccessReview,
} from '../../../../src/apiserver/reviews/access-reviews.ts';
import { ask, scripted, statusOf } from './ask.ts';

const resourceAttributes = { verb: 'get', resource: 'pods' };
const spec = { user: 'jane', resourceAttributes };
const jane = { name: 'jane', groups: ['devs', 'system:authenticated'], extra: {} };

const operations = {
  SubjectAccessReview: subjectAccessReview,
  SelfSubjectAccessReview: selfSubjectAccessReview,
  LocalSubjectAccessReview: localSubjectAccessReview,
};

const answers: [Partial<Decision>, object][] = [
  [{ verdict: 'allow' }, { allowed: true }],
  [
    { verdict: 'allow', reason: 'because' },
    { allowed: true, reason: 'because' },
  ],
  [
    { verdict: 'allow', errors: ['a', 'b'] },
    { allowed: true, evaluationError: 'a; b' },
  ],
  [
    { verdict: 'deny', reason: 'no' },
    { allowed: false, denied: true, reason: 'no' },
  ],
  [{ verdict: 'deny' }, { allowed: false, denied: true }],
  [{ verdict: 'noOpinion' }, { allowed: false }],
  [
    { verdict: 'noOpinion', reason: 'RBAC: a', errors: ['a'] },
    { allowed: false, reason: 'RBAC: a', evaluationError: 'a' },
  ],
];

for (const [name, operation] of Object.entries(operations)) {
  describe(`a ${name}`, () => {
    test('says what the authorizers say, and denied only when one denies', async () => {
      for (const [decision, status] of answers) {
        const { authorizer } = scripted(decision);
        const answered = await statusOf(operation(authorizer), { spec }, { namespace: 'team' });
        assert.deepEqual(answered, status, JSON.stringify(decision));
      }
    });

    test('answers with the question, whatever status came along', async () => {
      const { authorizer } = scripted({});
      const status = { allowed: true };
      const answer = await ask(operation(authorizer), { spec, status }, { namespace: 'team' });
      const isLocal = name === 'LocalSubjectAccessReview';
      const asked = isLocal ? { ...resourceAttributes, namespace: 'team' } : resourceAttributes;
      assert.deepEqual(answer, {
        metadata: isLocal ? { namespace: 'team' } : {},
        spec: { ...spec, resourceAttributes: asked },
        status: { allowed: false },
      });
    });

    test('without a question is invalid', async () => {
      const { authorizer, asked } = scripted({ verdict: 'allow' });
      for (const body of [{}, { spec: {} }]) {
        const answer = ask(operation(authorizer), body, { namespace: 'team' });
        await assert.rejects(answer, { reason: 'Invalid', code: 422 });
      }
      assert.deepEqual(asked, []);
    });
  });
}

describe('the question', () => {
  test('is about the user, groups, uid and extra that it names, and nobody else’s groups', async () => {
    const { authorizer, asked } = scripted({});
    const operation = subjectAccessReview(authorizer);
    await ask(operation, { spec });
    await ask(operation, {
      spec: { user: 'jane', groups: ['devs'], uid: '1', extra: { a: ['b'] }, resourceAttributes },
    });
    await ask(operation, { spec: { groups: ['devs'], resourceAttributes } });
    assert.deepEqual(
      asked.map(({ user }) => user),
      [
        { name: 'jane', groups: [], extra: {} },
        { name: 'jane', groups: ['devs'], uid: '1', extra: { a: ['b'] } },
        { name: '', groups: ['devs'], extra: {} },
      ],
    );
  });

  test('of a self review is about the caller', async () => {
    const { authorizer, asked } = scripted({});
    await ask(selfSubjectAccessReview(authorizer), { spec: { resourceAttributes } }, { user: jane });
    assert.deepEqual(asked[0]?.user, jane);
  });

  test('is about a resource, of any version unless one is named', async () => {
    const { authorizer, asked } = scripted({});
    const operation = subjectAccessReview(authorizer);
    const full = {
      verb: 'update',
      group: 'apps',
      version: 'v1',
      resource: 'deployments',
      subresource: 'scale',
      namespace: 'team',
      name: 'web',
    };
    await ask(operation, { spec: { user: 'jane', resourceAttributes: full } });
    await ask(operation, { spec: { user: 'jane', resourceAttributes: {} } });
    const selectors = { fields: [], labels: [] };
    assert.deepEqual(asked[0]?.attributes, { ...full, selectors });
    const empty = { verb: '', group: '', resource: '', subresource: '', namespace: '', name: '' };
    assert.deepEqual(asked[1]?.attributes, { ...empty, version: '*', selectors });
  });

  test('is about a path', async () => {
    const { authorizer, asked } = scripted({});
    const nonResourceAttributes = { verb: 'get', path: '/metrics' };
    await ask(subjectAccessReview(authorizer), { spec: { user: 'jane', nonResourceAttributes } });
    assert.deepEqual(asked[0]?.attributes, nonResourceAttributes);
  });

  test('of a local review is about the namespace of the request', async () => {
    const { authorizer, asked } = scripted({});
    const operation = localSubjectAccessReview(authorizer);
    const within = (namespace: string) => ({
      spec: { user: 'jane', resourceAttributes: { ...resourceAttributes, namespace } },
    });
    for (const namespace of ['', 'team']) await ask(operation, within(namespace), { namespace: 'team' });
    for (const { attributes } of asked) {
      assert.ok('namespace' in attributes);
      assert.equal(attributes.namespace, 'team');
    }
    await assert.rejects(ask(operation, within('other'), { namespace: 'team' }), {
      reason: 'Invalid',
      message: /spec\.resourceAttributes\.namespace: Invalid value: "other": must match metadata\.namespace/,
    });
    assert.equal(asked.length, 2);
  });
});

describe('a selector in the question', () => {
  const label = (...requirements: object[]) => ({ labelSelector: { requirements } });
  const field = (...requirements: object[]) => ({ fieldSelector: { requirements } });

  /** What the authorizer is asked for, and what the answer complains of. */
  async function understood(selectors: object, isOn = true) {
    const { authorizer, asked } = scripted({});
    const body = { spec: { user: 'jane', resourceAttributes: { ...resourceAttributes, ...selectors } } };
    const answer = await ask(subjectAccessReview(authorizer), body, { selectors: isOn });
    const status = await statusOf(subjectAccessReview(authorizer), body, { selectors: isOn });
    const [first] = asked;
    assert.ok(first && 'selectors' in first.attributes);
    return { ...first.attributes.selectors, error: status.evaluationError, spec: answer['spec'] };
  }

  test('narrows it: as requirements', async () => {
    const { fields, labels, error } = await understood({
      ...label(
        { key: 'tier', operator: 'In', values: ['a', 'b', 'a'] },
        { key: 'x', operator: 'DoesNotExist' },
      ),
      ...field(
        { key: 'spec.nodeName', operator: 'In', values: ['n'] },
        { key: 'a', operator: 'NotIn', values: ['b'] },
      ),
    });
    assert.deepEqual(labels, [
      { key: 'tier', operator: 'In', values: ['a', 'b'] },
      { key: 'x', operator: 'DoesNotExist', values: [] },
    ]);
    assert.deepEqual(fields, [
      { field: 'spec.nodeName', operator: '=', value: 'n' },
      { field: 'a', operator: '!=', value: 'b' },
    ]);
    assert.equal(error, undefined);
  });

  test('narrows it: as the text of a query', async () => {
    const { fields, labels, error } = await understood({
      fieldSelector: { rawSelector: 'spec.nodeName=n,no.such.field!=b' },
      labelSelector: { rawSelector: 'tier in (a, b),!x' },
    });
    assert.deepEqual(fields, [
      { field: 'spec.nodeName', operator: '=', value: 'n' },
      { field: 'no.such.field', operator: '!=', value: 'b' },
    ]);
    assert.deepEqual(labels, [
      { key: 'tier', operator: 'In', values: ['a', 'b'] },
      { key: 'x', operator: 'DoesNotExist', values: [] },
    ]);
    assert.equal(error, undefined);
  });

  test('that is empty narrows nothing', async () => {
    const empty = { fieldSelector: {}, labelSelector: { rawSelector: '', requirements: [] } };
    const { fields, labels, error } = await understood(empty);
    assert.deepEqual([fields, labels, error], [[], [], undefined]);
  });

  test('that is not understood narrows as far as it is, and the answer says so', async () => {
    const path = 'spec.resourceAttributes';
    const known = { key: 'a', operator: 'Exists' };
    const unknown = { key: 'a', operator: 'LongerThan', values: ['1'] };
    for (const [selectors, complaint] of [
      [label(unknown), `${path}.labelSelector ignored due to parse error`],
      [label(known, unknown), `${path}.labelSelector partially ignored due to parse error`],
      [field(known), `${path}.fieldSelector ignored due to parse error`],
      [
        field({ key: 'a', operator: 'In', values: ['b', 'c'] }),
        `${path}.fieldSelector ignored due to parse error`,
      ],
      [{ labelSelector: { rawSelector: 'a in (' } }, `${path}.labelSelector ignored due to parse error`],
      [{ fieldSelector: { rawSelector: 'a' } }, `${path}.fieldSelector ignored due to parse error`],
    ] as const) {
      assert.equal((await understood(selectors)).error, complaint, JSON.stringify(selectors));
    }
    const partly = await understood(label(known, unknown));
    assert.deepEqual(partly.labels, [{ ...known, values: [] }]);
  });

  test('as text and as requirements at once is a bad request', async () => {
    const { authorizer, asked } = scripted({ verdict: 'allow' });
    for (const name of ['fieldSelector', 'labelSelector']) {
      const selector = { rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'Exists' }] };
      const body = { spec: { ...spec, resourceAttributes: { ...resourceAttributes, [name]: selector } } };
      for (const operation of Object.values(operations)) {
        await assert.rejects(ask(operation(authorizer), body, { selectors: true, namespace: 'team' }), {
          reason: 'BadRequest',
          code: 400,
          message: `spec.resourceAttributes.${name}.rawSelector may not be specified at the same time as requirements`,
        });
      }
    }
    assert.deepEqual(asked, []);
  });

  test('is not there at all while its feature gate is off', async () => {
    const selectors = {
      fieldSelector: { rawSelector: 'a=b', requirements: [{}] },
      ...label({ key: 'a', operator: 'In' }),
    };
    const { fields, labels, error, spec: asked } = await understood(selectors, false);
    assert.deepEqual([fields, labels, error], [[], [], undefined]);
    assert.deepEqual(asked, spec);
  });
});

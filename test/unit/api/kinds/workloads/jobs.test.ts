import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiObject, Kind } from '../../../../../src/api/index.ts';
import { cronJobKind, jobKind } from '../../../../../src/api/index.ts';

/*
 * Which labels and selectors jobs have, what their policies may say, and what may change while they are suspended.
 */

type Any = Record<string, unknown>;

const container = { name: 'work', image: 'work' };
const template = { spec: { restartPolicy: 'Never', containers: [container] } };
const labelled = (labels: Any) => ({ ...template, metadata: { labels } });
const indexed = { template, completionMode: 'Indexed', completions: 4, parallelism: 4 };

function settled<T extends ApiObject>(kind: Kind<T>, spec: Any, rest: Any = {}): T {
  const object = { metadata: { name: 'one', uid: 'uid-1' }, ...structuredClone({ spec }) };
  const made = kind.default(kind.prepare(object as unknown as T, undefined));
  return { ...made, ...rest };
}

const said = (causes: readonly { field: string; message: string }[]) =>
  causes.map(({ field, message }) => `${field}: ${message}`);
const created = (spec: Any) => said(jobKind.validate(settled(jobKind, spec), undefined));

function changed(before: Any, after: Any, status: Any = {}): string[] {
  const old = settled(jobKind, before, { status });
  return said(jobKind.validate(settled(jobKind, after, { status }), old));
}

describe('a new Job', () => {
  test('selects its own pods only, whatever else is asked for', () => {
    const selector = { matchLabels: { app: 'a' } };
    assert.deepEqual(created({ selector, template: labelled({ app: 'a' }) }), [
      'spec.selector: Invalid value: {"matchLabels":{"batch.kubernetes.io/controller-uid":"uid-1","app":"a"}}: `selector` not auto-generated',
    ]);
    assert.deepEqual(created({ selector, manualSelector: true, template: labelled({ app: 'a' }) }), []);
  });

  test('may not give its pods the labels of another', () => {
    const found =
      '{"controller-uid":"uid-0","job-name":"one","batch.kubernetes.io/controller-uid":"uid-1","batch.kubernetes.io/job-name":"one"}';
    assert.deepEqual(created({ template: labelled({ 'controller-uid': 'uid-0' }) }), [
      `spec.template.metadata.labels[controller-uid]: Invalid value: ${found}: must be 'uid-1'`,
    ]);
  });

  const rows: readonly (readonly [what: string, spec: Any, said: string])[] = [
    [
      'replace pods that are still ending when their failures matter',
      {
        template,
        podReplacementPolicy: 'TerminatingOrFailed',
        podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'A', status: 'True' }] }] },
      },
      'spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"',
    ],
    [
      'count more successes than it lists',
      { ...indexed, successPolicy: { rules: [{ succeededIndexes: '0-1,3', succeededCount: 4 }] } },
      'spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of indexes in the specified succeededIndexes field)',
    ],
    [
      'be of a controller with a long name',
      { template, managedBy: `example.com/${'x'.repeat(60)}` },
      'spec.managedBy: Too long: may not be more than 63 bytes',
    ],
    [
      'let any number of very many indexes fail',
      { ...indexed, completions: 100_001, backoffLimitPerIndex: 1 },
      'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
    ],
    [
      'run many of very many indexes at a time',
      {
        ...indexed,
        completions: 100_001,
        parallelism: 10_001,
        backoffLimitPerIndex: 1,
        maxFailedIndexes: 1,
      },
      'spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
    ],
    [
      'have a name that no host can have',
      { ...indexed, completions: 10 ** 9, parallelism: 1 },
      `metadata.name: Invalid value: "${'n'.repeat(54)}": will not able to create pod with invalid DNS label: ${'n'.repeat(54)}-999999999`,
    ],
  ];
  for (const [what, spec, expected] of rows)
    test(`may not ${what}`, () => {
      const job = settled(jobKind, spec);
      if (expected.startsWith('metadata')) job.metadata = { name: 'n'.repeat(54), uid: 'uid-1' };
      const found = said(jobKind.validate(job, undefined));
      assert.ok(found.includes(expected), `expected ${expected}, found ${found.join('\n')}`);
    });
});

describe('a Job that is suspended', () => {
  const suspended = { template, suspend: true };
  const stopped = {
    startTime: '2026-01-01T00:00:00Z',
    conditions: [{ type: 'Suspended', status: 'True' }],
  };
  const withSpec = (spec: Any) => ({ suspend: true, template: { spec: { ...template.spec, ...spec } } });
  const resources = { requests: { cpu: '1' } };
  const nodes = {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
  };
  const pods = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [] } };
  const immutable = /^spec\.template: Invalid value: .*field is immutable$/;

  test('may go elsewhere and get other resources, before it begins and when it was stopped', () => {
    const next = withSpec({ containers: [{ ...container, resources }], nodeSelector: { disk: 'fast' } });
    assert.deepEqual(changed(suspended, next), []);
    assert.deepEqual(changed(suspended, next, stopped), []);
    assert.deepEqual(changed(next, suspended), [], 'and back');
  });

  test('keeps its images, and the other pods that it wants to be near', () => {
    const images = withSpec({ containers: [{ ...container, image: 'other' }] });
    assert.match(changed(suspended, images)[0] ?? '', immutable);
    assert.match(changed(suspended, withSpec({ affinity: pods }))[0] ?? '', immutable);
    assert.deepEqual(
      changed(withSpec({ affinity: pods }), withSpec({ affinity: { ...pods, ...nodes } })).filter((cause) =>
        immutable.test(cause),
      ),
      [],
    );
  });

  test('changes nothing while it has pods, or is not stopped yet', () => {
    const next = withSpec({ nodeSelector: { disk: 'fast' } });
    assert.match(changed(suspended, next, { ...stopped, active: 1 })[0] ?? '', immutable);
    assert.match(changed(suspended, next, { startTime: stopped.startTime })[0] ?? '', immutable);
    assert.match(changed({ template }, { ...next, suspend: false })[0] ?? '', immutable);
  });
});

describe('the state of a Job', () => {
  const status = (fields: Any) => settled(jobKind, { template }, { status: fields });
  const conditions = (...types: string[]) => ({
    conditions: types.map((type) => ({ type, status: 'True' })),
  });
  const written = (before: Any, after: Any) => said(jobKind.validate(status(after), status(before)));

  test('is final', () => {
    assert.deepEqual(written(conditions('FailureTarget', 'Failed'), conditions('FailureTarget')), [
      'status.conditions: Invalid value: cannot disable the terminal Failed=True condition',
    ]);
    assert.deepEqual(written({ failed: 2, succeeded: 1 }, { failed: 1 }), [
      'status.failed: Invalid value: 1: cannot decrease the failed counter',
      'status.succeeded: Invalid value: 0: cannot decrease the succeeded counter',
    ]);
  });

  test('is one of two', () => {
    assert.deepEqual(written({}, conditions('SuccessCriteriaMet', 'FailureTarget')), [
      'status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions',
    ]);
  });
});

test('more indexes run at a time only if all do', () => {
  assert.deepEqual(changed(indexed, { ...indexed, completions: 5 }), [
    'spec.completions: Invalid value: 5: can only be modified in tandem with spec.parallelism',
  ]);
  assert.deepEqual(changed(indexed, { ...indexed, completions: 5, parallelism: 5 }), []);
});

test('the Jobs of a CronJob have no selector of its own', () => {
  const spec = { schedule: '@daily', jobTemplate: { spec: { template, selector: {} } } };
  assert.deepEqual(said(cronJobKind.validate(settled(cronJobKind, spec), undefined)), [
    'spec.jobTemplate.spec.selector: Invalid value: {}: `selector` will be auto-generated',
  ]);
});

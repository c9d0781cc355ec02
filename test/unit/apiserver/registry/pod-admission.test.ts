/** The priority of pods, and how long they stay on a node in trouble. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startServer } from '../support/index.ts';

const server = await startServer({ defaultTolerations: { notReadySeconds: 300, unreachableSeconds: 60 } });
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
const pods = '/api/v1/namespaces/default/pods';
let count = 0;
const pod = (spec: object) => ({
  metadata: { name: `pod-${++count}` },
  spec: { containers: [{ name: 'main', image: 'app:1' }], ...spec },
});
const made = async (spec: object) => (await admin.must('POST', pods, pod(spec))).spec ?? {};
const refusal = async (spec: object) =>
  (await admin.refused('Forbidden', 'POST', pods, { body: pod(spec) })).message?.replace(/pod-\d+/, 'pod');
const priorityOf = ({ priorityClassName, priority, preemptionPolicy }: Record<string, unknown>) => [
  priorityClassName,
  priority,
  preemptionPolicy,
];

describe('a pod gets its priority', () => {
  test('0 without a class', async () => {
    assert.deepEqual(priorityOf(await made({})), [undefined, 0, 'PreemptLowerPriority']);
  });

  test('of the class that it names, the policy too', async () => {
    const body = { metadata: { name: 'patient' }, value: 7, preemptionPolicy: 'Never' };
    await admin.must('POST', classes, body);
    assert.deepEqual(priorityOf(await made({ priorityClassName: 'patient' })), ['patient', 7, 'Never']);
    const same = { priorityClassName: 'patient', priority: 7, preemptionPolicy: 'Never' };
    assert.deepEqual(priorityOf(await made(same)), ['patient', 7, 'Never']);
    const critical = await made({ priorityClassName: 'system-node-critical' });
    assert.equal(critical['priority'], 2_000_001_000);
  });

  const computed = (value: number | string) =>
    `priority admission controller computed ${value} from the given PriorityClass name`;
  const refused: readonly [what: string, spec: object, why: string][] = [
    ['a class that is not there', { priorityClassName: 'x' }, 'no PriorityClass with name x was found'],
    [
      'another number',
      { priority: 8 },
      `the integer value of priority (8) must not be provided in pod spec; ${computed(0)}`,
    ],
    [
      'another policy',
      { preemptionPolicy: 'Never' },
      `the string value of PreemptionPolicy (Never) must not be provided in pod spec; ${computed('PreemptLowerPriority')}`,
    ],
  ];
  for (const [what, spec, why] of refused)
    test(`and is refused with ${what}`, async () => {
      assert.equal(await refusal(spec), `pods "pod" is forbidden: ${why}`);
    });

  test('and keeps it when it is replaced by a manifest that does not say it', async () => {
    const wanted = pod({ priorityClassName: 'patient', serviceAccountName: 'default' });
    const { metadata, spec } = await admin.must('POST', pods, wanted);
    const { priority: _priority, preemptionPolicy: _policy, ...rest } = spec ?? {};
    const next = await admin.must('PUT', `${pods}/${metadata?.name}`, {
      metadata: { name: metadata?.name },
      spec: rest,
    });
    assert.deepEqual(priorityOf(next.spec ?? {}), ['patient', 7, 'Never']);
  });

  test('of the one default class, of which there is no second', async () => {
    await admin.must('POST', classes, { metadata: { name: 'usual' }, value: 3, globalDefault: true });
    assert.deepEqual(priorityOf(await made({})), ['usual', 3, 'PreemptLowerPriority']);
    const second = { metadata: { name: 'second' }, value: 4, globalDefault: true };
    assert.equal(
      (await admin.refused('Forbidden', 'POST', classes, { body: second })).message,
      'priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass usual is already marked as default. Only one default can exist',
    );
    const found = await admin.must('GET', `${classes}/usual`);
    await admin.must('PUT', `${classes}/usual`, { ...found, description: 'the usual one' });
    await admin.must('DELETE', `${classes}/usual`);
    assert.deepEqual(priorityOf(await made({})), [undefined, 0, 'PreemptLowerPriority']);
  });
});

describe('how long a pod stays on a node in trouble', () => {
  const notReady = {
    key: 'node.kubernetes.io/not-ready',
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  };
  const unreachable = { ...notReady, key: 'node.kubernetes.io/unreachable', tolerationSeconds: 60 };
  const own = { key: notReady.key, operator: 'Exists', tolerationSeconds: undefined };
  const said = { key: notReady.key, operator: 'Exists' };
  const everything = { operator: 'Exists' };
  const otherEffect = { key: unreachable.key, operator: 'Exists', effect: 'NoSchedule' };
  const cases: readonly [what: string, given: object[] | undefined, kept: object[]][] = [
    ['is said for it', undefined, [notReady, unreachable]],
    ['is kept where it says it for one', [own], [said, unreachable]],
    ['is kept where it tolerates everything', [everything], [everything]],
    ['is not said by a toleration of another effect', [otherEffect], [otherEffect, notReady, unreachable]],
  ];
  for (const [what, tolerations, wanted] of cases)
    test(what, async () => {
      const spec = await made(tolerations === undefined ? {} : { tolerations });
      assert.deepEqual(spec['tolerations'], wanted);
    });

  test('stays when a manifest replaces it that does not say it', async () => {
    const { metadata, spec } = await admin.must('POST', pods, pod({}));
    const { tolerations: _tolerations, ...rest } = spec ?? {};
    const next = await admin.must('PUT', `${pods}/${metadata?.name}`, {
      metadata: { name: metadata?.name },
      spec: rest,
    });
    assert.deepEqual(next.spec?.['tolerations'], [notReady, unreachable]);
  });
});

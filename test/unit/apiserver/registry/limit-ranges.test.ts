/** What LimitRanges make of pods and claims, and which they refuse. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startServer } from '../support/index.ts';

const server = await startServer({ gates: { InPlacePodVerticalScaling: true } });
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

let count = 0;

/** A namespace of its own with these ranges, each with these items. */
async function namespaceWith(...ranges: readonly (readonly object[])[]): Promise<string> {
  const namespace = `limits-${++count}`;
  await admin.must('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  for (const [index, limits] of ranges.entries())
    await admin.must('POST', `/api/v1/namespaces/${namespace}/limitranges`, {
      metadata: { name: `range-${index}` },
      spec: { limits },
    });
  return namespace;
}

const podsOf = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`;
const container = (resources: object, name = 'main', more: object = {}) => ({
  ...{ name, image: 'app:1', resources },
  ...more,
});
const pod = (spec: object) => ({ metadata: { name: 'p' }, spec });
const one = (resources: object) => ({ containers: [container(resources)] });

describe('containers', () => {
  test('get what they do not say, and the pod tells which', async () => {
    const namespace = await namespaceWith([
      { type: 'Container', default: { cpu: '500m', memory: '64Mi' }, defaultRequest: { cpu: '100m' } },
    ]);
    const made = await admin.must(
      'POST',
      podsOf(namespace),
      pod({
        containers: [container({}), container({ requests: { cpu: '200m' } }, 'side')],
        initContainers: [container({ limits: { cpu: '1', memory: '1Gi' } }, 'full'), container({}, 'init')],
      }),
    );
    const spec: Record<string, unknown> = made.spec ?? {};
    const resourcesOf = (list: unknown) =>
      Array.isArray(list) ? list.map(({ resources }: { resources: unknown }) => resources) : [];
    const limits = { cpu: '500m', memory: '64Mi' };
    assert.deepEqual(resourcesOf(spec['containers']), [
      { limits, requests: { cpu: '100m', memory: '64Mi' } },
      { limits, requests: { cpu: '200m', memory: '64Mi' } },
    ]);
    assert.deepEqual(resourcesOf(spec['initContainers']), [
      { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } },
      { limits, requests: { cpu: '100m', memory: '64Mi' } },
    ]);
    assert.equal(
      made.metadata?.annotations?.['kubernetes.io/limit-ranger'],
      'LimitRanger plugin set: cpu, memory request for container main; cpu, memory limit for container main; ' +
        'memory request for container side; cpu, memory limit for container side; ' +
        'cpu, memory request for init container init; cpu, memory limit for init container init',
    );
    assert.equal(made.status?.['qosClass'], 'Burstable');
  });

  test('that are missing, alone or beside init containers, are refused by the rules of pods', async () => {
    const namespace = await namespaceWith([{ type: 'Container', default: { cpu: '500m' } }]);
    for (const spec of [{}, { initContainers: [container({}, 'init')] }]) {
      const refused = await admin.refused('Invalid', 'POST', podsOf(namespace), { body: pod(spec) });
      assert.match(refused.message ?? '', /spec\.containers: Required value/);
    }
  });

  test('of several ranges the first that says it counts', async () => {
    const namespace = await namespaceWith(
      [{ type: 'Container', default: { cpu: '1' } }],
      [{ type: 'Container', default: { cpu: '2', memory: '1Gi' } }],
    );
    const { spec } = await admin.must('POST', podsOf(namespace), pod(one({})));
    const quantities = { cpu: '1', memory: '1Gi' };
    assert.partialDeepStrictEqual(spec, {
      containers: [{ resources: { limits: quantities, requests: quantities } }],
    });
  });
});

const cpu = (request: string | undefined, limit?: string) => ({
  ...(request === undefined ? {} : { requests: { cpu: request } }),
  ...(limit === undefined ? {} : { limits: { cpu: limit } }),
});

describe('a pod is refused', () => {
  const atLeast = { type: 'Container', min: { cpu: '200m' } };
  const atMost = { type: 'Container', max: { memory: '1Gi' } };
  const ratio = { type: 'Container', maxLimitRequestRatio: { cpu: '2' } };
  const whole = { type: 'Pod', max: { cpu: '2' }, min: { cpu: '500m' } };
  const cases: readonly [what: string, item: object, spec: object, why: string | undefined][] = [
    [
      'a request below the least',
      atLeast,
      one(cpu('100m')),
      'minimum cpu usage per Container is 200m, but request is 100m',
    ],
    [
      'a limit above the most',
      atMost,
      one({ limits: { memory: '2Gi' } }),
      'maximum memory usage per Container is 1Gi, but limit is 2Gi',
    ],
    [
      'an init container above the most',
      atMost,
      {
        containers: [container({ limits: { memory: '1Gi' } })],
        initContainers: [container({ limits: { memory: '1025Mi' } }, 'i')],
      },
      'maximum memory usage per Container is 1Gi, but limit is 1025Mi',
    ],
    [
      'too great a ratio',
      ratio,
      one(cpu('100m', '250m')),
      'cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000',
    ],
    [
      'a ratio of nothing',
      ratio,
      one({}),
      'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
    ],
    [
      'a ratio without a limit',
      ratio,
      one(cpu('1')),
      'cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0',
    ],
    [
      'containers that are too large together',
      whole,
      { containers: [container(cpu('1', '1')), container(cpu('1', '1500m'), 'b')] },
      'maximum cpu usage per Pod is 2, but limit is 2500m',
    ],
    ['a pod without a limit', whole, one(cpu('1')), 'maximum cpu usage per Pod is 2.  No limit is specified'],
    [
      'a pod without a request',
      whole,
      one({}),
      '[minimum cpu usage per Pod is 500m.  No request is specified, maximum cpu usage per Pod is 2.  No limit is specified]',
    ],
    [
      'a sidecar that adds up',
      whole,
      {
        containers: [container(cpu('1', '1'))],
        initContainers: [container(cpu('1', '1500m'), 's', { restartPolicy: 'Always' })],
      },
      'maximum cpu usage per Pod is 2, but limit is 2500m',
    ],
    [
      'an init container alone',
      whole,
      { containers: [container(cpu('1', '1'))], initContainers: [container(cpu('1', '2'), 'i')] },
      undefined,
    ],
    [
      'resources of the pod as a whole',
      whole,
      { resources: { requests: { cpu: '1' }, limits: { cpu: '3' } }, containers: [container(cpu('1', '1'))] },
      'maximum cpu usage per Pod is 2, but limit is 3',
    ],
    ['the very most', whole, one(cpu('2', '2')), undefined],
  ];
  for (const [what, item, spec, why] of cases)
    test(`by its limits, or not: ${what}`, async () => {
      const namespace = await namespaceWith([item]);
      if (why === undefined) {
        await admin.must('POST', podsOf(namespace), pod(spec));
        return;
      }
      const { message } = await admin.refused('Forbidden', 'POST', podsOf(namespace), { body: pod(spec) });
      assert.equal(message, `pods "p" is forbidden: ${why}`);
    });

  test('by any of several ranges, with all that is wrong', async () => {
    const namespace = await namespaceWith([atLeast], [{ type: 'Container', max: { cpu: '50m' } }]);
    const body = pod(one(cpu('100m', '100m')));
    const { message } = await admin.refused('Forbidden', 'POST', podsOf(namespace), { body });
    assert.equal(
      message,
      'pods "p" is forbidden: [minimum cpu usage per Container is 200m, but request is 100m, maximum cpu usage per Container is 50m, but limit is 100m]',
    );
  });

  test('when it is resized beyond them, not when its labels change', async () => {
    const namespace = await namespaceWith();
    await admin.must('POST', podsOf(namespace), pod(one(cpu('1', '1'))));
    await admin.must('POST', `/api/v1/namespaces/${namespace}/limitranges`, {
      metadata: { name: 'later' },
      spec: { limits: [{ type: 'Container', max: { cpu: '500m' } }] },
    });
    const patch = (path: string, body: object) => ({
      path: `${podsOf(namespace)}/p${path}`,
      send: { body, headers: { 'content-type': 'application/merge-patch+json' } },
    });
    const labels = patch('', { metadata: { labels: { a: 'b' } } });
    assert.equal((await admin.request('PATCH', labels.path, labels.send)).code, 200);
    const main = (quantity: string) => ({
      spec: { containers: [container({ requests: { cpu: quantity }, limits: { cpu: quantity } })] },
    });
    const up = patch('/resize', main('2'));
    const { message } = await admin.refused('Forbidden', 'PATCH', up.path, up.send);
    assert.equal(
      message,
      'pods "p" is forbidden: [maximum cpu usage per Container is 500m, but limit is 2]'.replace(
        /[[\]]/g,
        '',
      ),
    );
    const down = patch('/resize', main('400m'));
    const reply = await admin.request('PATCH', down.path, down.send);
    assert.equal(reply.code, 200, reply.text);
  });
});

test('a claim is refused that asks for less or more than its namespace allows', async () => {
  const namespace = await namespaceWith([
    { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } },
  ]);
  const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
  const claim = (storage: string) => ({
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
  });
  const refusal = async (storage: string) =>
    (await admin.refused('Forbidden', 'POST', path, { body: claim(storage) })).message;
  const rule = (text: string) => `persistentvolumeclaims "c" is forbidden: ${text}`;
  assert.equal(
    await refusal('500Mi'),
    rule('minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi'),
  );
  assert.equal(
    await refusal('3Gi'),
    rule('maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi'),
  );
  await admin.must('POST', path, claim('2Gi'));
});

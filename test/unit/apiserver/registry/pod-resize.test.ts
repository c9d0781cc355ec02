import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { podChangeCauses, podKind } from '../../../../src/api/index.ts';
import type { ApiTester, TestServer } from '../support/index.ts';
import { startServer } from '../support/index.ts';

let server: TestServer;
let admin: ApiTester;
before(async () => {
  // the scheduler would report why pods wait, between a read and a write
  server = await startServer({ gates: { InPlacePodVerticalScaling: true } });
  ({ admin } = server);
});
after(async () => await server?.[Symbol.asyncDispose]());

const pods = '/api/v1/namespaces/default/pods';
const strategic = 'application/strategic-merge-patch+json';

interface Amounts {
  readonly requests?: Readonly<Record<string, string | null>>;
  readonly limits?: Readonly<Record<string, string | null>>;
}

const amounts = (cpu: string, memory: string, limits?: Amounts['limits']): Amounts => ({
  requests: { cpu, memory },
  ...(limits === undefined ? {} : { limits }),
});

const container = (name: string, resources: Amounts = {}, more: object = {}) => ({
  ...{ name, image: 'a:1', resources },
  ...more,
});

async function make(name: string, spec: object, more: object = {}) {
  const body = { metadata: { name, ...more }, spec: { automountServiceAccountToken: false, ...spec } };
  return await admin.must('POST', pods, body);
}

const patching = (body: object) => ({ body, headers: { 'content-type': strategic } });

async function patch(name: string, spec: object) {
  const { code, text } = await admin.request('PATCH', `${pods}/${name}/resize`, patching({ spec }));
  assert.equal(code, 200, text);
  return await admin.must('GET', `${pods}/${name}`);
}

/** `field: message` of each cause of the refusal. */
async function refusedWith(name: string, spec: object): Promise<string[]> {
  const { details } = await admin.refused('Invalid', 'PATCH', `${pods}/${name}/resize`, patching({ spec }));
  return (details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
}

describe('pods/resize', () => {
  test('changes requests and limits, and nothing else', async () => {
    await make('web', { containers: [container('a', amounts('100m', '64Mi')), container('b')] });
    const patched = await patch('web', {
      containers: [{ name: 'a', resources: { requests: { cpu: '300m' }, limits: { cpu: '1' } } }],
    });
    assert.equal(patched.metadata.generation, 2);
    assert.match(
      JSON.stringify(patched.spec),
      /"resources":\{"requests":\{"cpu":"300m","memory":"64Mi"\},"limits":\{"cpu":"1"\}\}/,
    );
    const read = await admin.must('GET', `${pods}/web/resize`);
    const sent = { ...read, spec: { ...read.spec, nodeName: 'other', priority: 7 } };
    const put = await admin.must('PUT', `${pods}/web/resize`, sent);
    assert.deepEqual([put.spec?.nodeName, put.metadata.generation], [undefined, 2]);
    const through = {
      body: { ...read, spec: { ...read.spec, containers: [container('a'), container('b')] } },
    };
    await admin.refused('Invalid', 'PUT', `${pods}/web`, through);
  });

  test('is in discovery and OpenAPI while its feature is on, and nowhere while it is off', async () => {
    const paths = `/api/v1/namespaces/{namespace}/pods/{name}/resize`;
    const listed = async (tester: ApiTester) => {
      const found = JSON.stringify(await tester.must('GET', '/api/v1')).includes('"pods/resize"');
      const described = JSON.stringify(await tester.must('GET', '/openapi/v3/api/v1')).includes(paths);
      return [found, described];
    };
    assert.deepEqual(await listed(admin), [true, true]);
    await using plain = await startServer();
    assert.deepEqual(await listed(plain.admin), [false, false]);
    await plain.admin.refused('NotFound', 'GET', `${pods}/web/resize`);
  });

  test('keeps the class of the pod', async () => {
    const class_ = 'spec: Invalid value: ';
    const wrong = 'Pod QOS Class may not change as a result of resizing';
    const full = { cpu: '1', memory: '64Mi' };
    await make('guaranteed', { containers: [container('a', { requests: full, limits: full })] });
    const less = { containers: [{ name: 'a', resources: { requests: { cpu: '500m' } } }] };
    assert.deepEqual(await refusedWith('guaranteed', less), [`${class_}"Guaranteed": ${wrong}`]);
    await make('besteffort', { containers: [container('a')] });
    assert.deepEqual(await refusedWith('besteffort', less), [`${class_}"BestEffort": ${wrong}`]);
    const more = { requests: { cpu: '2', memory: '64Mi' }, limits: { cpu: '2', memory: '64Mi' } };
    await patch('guaranteed', { containers: [{ name: 'a', resources: more }] });
  });

  test('takes nothing away', async () => {
    const resources = amounts('1', '64Mi', { cpu: '2' });
    await make('kept', { containers: [container('a', resources)] });
    const without = (which: object) => ({ containers: [{ name: 'a', resources: which }] });
    assert.deepEqual(await refusedWith('kept', without({ requests: { memory: null } })), [
      'spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed',
    ]);
    assert.deepEqual(await refusedWith('kept', without({ limits: { cpu: null } })), [
      'spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed',
    ]);
  });

  test('is for cpu and memory of what runs on', async () => {
    await make('mixed', {
      initContainers: [
        container('once', amounts('1', '64Mi')),
        container('beside', amounts('1', '64Mi'), { restartPolicy: 'Always' }),
      ],
      containers: [container('a', amounts('1', '64Mi'))],
    });
    const disk = { requests: { 'ephemeral-storage': '1Gi' } };
    assert.deepEqual(await refusedWith('mixed', { containers: [{ name: 'a', resources: disk }] }), [
      'spec: Forbidden: only cpu and memory resources are mutable',
    ]);
    assert.deepEqual(await refusedWith('mixed', { initContainers: [{ name: 'beside', resources: disk }] }), [
      'spec: Forbidden: only cpu and memory resources for sidecar containers are mutable',
    ]);
    const cpu = { requests: { cpu: '2' } };
    assert.deepEqual(await refusedWith('mixed', { initContainers: [{ name: 'once', resources: cpu }] }), [
      'spec: Forbidden: resources for non-sidecar init containers are immutable',
    ]);
    const policy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    assert.deepEqual(await refusedWith('mixed', { containers: [{ name: 'a', resizePolicy: policy }] }), [
      'spec: Forbidden: only cpu and memory resources are mutable',
    ]);
    await patch('mixed', { initContainers: [{ name: 'beside', resources: cpu }] });
  });

  test('neither adds, removes, renames nor reorders containers', async () => {
    const made = await make('ordered', { containers: [container('a'), container('b')] });
    const put = async (containers: object[]) => {
      const body = { ...made, spec: { ...made.spec, containers } };
      const { details } = await admin.refused('Invalid', 'PUT', `${pods}/ordered/resize`, { body });
      return (details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
    };
    const reordered = 'Forbidden: containers may not be renamed or reordered on resize';
    assert.deepEqual(await put([container('b'), container('a')]), [
      `spec.containers[0].name: ${reordered}`,
      `spec.containers[1].name: ${reordered}`,
    ]);
    assert.deepEqual(await put([container('a')]), [
      'spec.containers: Forbidden: containers may not be added or removed on resize',
    ]);
  });

  test('of the whole pod changes its own requests and limits', async () => {
    const resources = { requests: { cpu: '1', memory: '64Mi' }, limits: { cpu: '2' } };
    await make('level', { containers: [container('a')], resources });
    const { spec } = await patch('level', { resources: { requests: { cpu: '1500m' } } });
    assert.deepEqual(spec?.resources, { ...resources, requests: { cpu: '1500m', memory: '64Mi' } });
    assert.deepEqual(await refusedWith('level', { resources: { limits: { cpu: null } } }), [
      'spec.resources.limits: Forbidden: resource limits cannot be removed',
    ]);
  });

  test('needs a node that says what is in force', async () => {
    await make('old', { containers: [container('a', amounts('1', '64Mi'))] });
    const running = (resources?: object) => ({
      ...{ name: 'a', image: 'a:1', imageID: '', ready: true, restartCount: 0 },
      state: { running: { startedAt: '2026-01-02T03:04:05Z' } },
      ...(resources === undefined ? {} : { resources }),
    });
    const tell = (resources?: object) =>
      admin.request(
        'PATCH',
        `${pods}/old/status`,
        patching({ status: { containerStatuses: [running(resources)] } }),
      );
    const more = { containers: [{ name: 'a', resources: { requests: { cpu: '2' } } }] };
    await tell();
    assert.deepEqual(await refusedWith('old', more), [
      'spec: Forbidden: Pod running on node without support for resize',
    ]);
    await tell({});
    await patch('old', more);
  });

  test('is not for what a node runs of its own accord, nor for Windows', () => {
    const causes = (pod: object) => {
      const old = podKind.default({ spec: { containers: [{ name: 'a', image: 'a' }] }, ...pod });
      return podChangeCauses(old, old, 'resize').map(({ field, message }) => `${field}: ${message}`);
    };
    const annotations = { 'kubernetes.io/config.mirror': 'a' };
    assert.deepEqual(causes({ metadata: { annotations } }), [': Forbidden: static pods cannot be resized']);
    const spec = { containers: [{ name: 'a', image: 'a' }], os: { name: 'windows' } };
    assert.deepEqual(causes({ spec }), [': Forbidden: windows pods cannot be resized']);
    assert.deepEqual(causes({}), []);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podKind } from '../../../../src/api/index.ts';
import type { Container } from './pod-examples.ts';
import { made, madeOf } from './pod-examples.ts';

const containerDefaults = {
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  resources: {},
};

const onlyContainer = (container: object) =>
  madeOf({ containers: [{ name: 'main', image: 'app:1', ...container }] }).spec?.containers[0];

describe('a pod that says little', () => {
  test('gets the rest as everywhere', () => {
    const pod = made({ metadata: { name: 'a' }, spec: { containers: [{ name: 'main', image: 'app' }] } });
    assert.deepEqual(pod.spec, {
      containers: [{ name: 'main', image: 'app', imagePullPolicy: 'Always', ...containerDefaults }],
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      terminationGracePeriodSeconds: 30,
      enableServiceLinks: true,
      securityContext: {},
    });
  });

  test('is one even without a spec, as far as defaults go', () => {
    assert.deepEqual(made({}).spec, undefined);
    assert.deepEqual(made({ spec: {} }).spec, undefined, 'an empty one says no more');
  });

  test('keeps what it says, also when that is nothing or zero', () => {
    const { spec } = madeOf({
      terminationGracePeriodSeconds: 0,
      enableServiceLinks: false,
      restartPolicy: 'Never',
    });
    assert.equal(spec?.terminationGracePeriodSeconds, 0);
    assert.equal(spec?.enableServiceLinks, false);
    assert.equal(spec?.restartPolicy, 'Never');
    assert.equal(madeOf({ restartPolicy: '' }).spec?.restartPolicy, 'Always', 'an empty text says nothing');
  });

  test('runs as the account that either field names', () => {
    for (const given of [
      { serviceAccount: 'x' },
      { serviceAccountName: 'x' },
      { serviceAccountName: 'x', serviceAccount: 'y' },
    ]) {
      const { spec } = madeOf(given);
      assert.deepEqual([spec?.serviceAccountName, spec?.serviceAccount], ['x', 'x']);
    }
    assert.equal(madeOf({}).spec?.serviceAccountName, undefined);
  });
});

describe('a container', () => {
  test('pulls again what is or may be the latest image', () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    const policies: Record<string, string> = {
      app: 'Always',
      'app:latest': 'Always',
      'app:1': 'IfNotPresent',
      'registry.example.com:5000/app': 'Always',
      'registry.example.com:5000/app:1': 'IfNotPresent',
      [`app@${digest}`]: 'IfNotPresent',
      [`app:1@${digest}`]: 'IfNotPresent',
      [`app:latest@${digest}`]: 'Always',
    };
    for (const [image, policy] of Object.entries(policies)) {
      assert.equal(onlyContainer({ image })?.imagePullPolicy, policy, image);
    }
    assert.equal(onlyContainer({ image: 'app', imagePullPolicy: 'Never' })?.imagePullPolicy, 'Never');
  });

  test('asks for what it limits, and says so', () => {
    const limits = { cpu: '1', memory: '1Gi' };
    assert.deepEqual(onlyContainer({ resources: { limits, requests: { cpu: '500m' } } })?.resources, {
      limits,
      requests: { cpu: '500m', memory: '1Gi' },
    });
    assert.deepEqual(onlyContainer({ resources: { requests: { cpu: '1' } } })?.resources, {
      requests: { cpu: '1' },
    });
  });

  test('speaks TCP, on the network of the node through its own port', () => {
    const containers = [{ name: 'main', image: 'app:1', ports: [{ containerPort: 80 }] }];
    assert.deepEqual(madeOf({ containers }).spec?.containers[0]?.ports, [
      { containerPort: 80, protocol: 'TCP' },
    ]);
    assert.deepEqual(madeOf({ containers, hostNetwork: true }).spec?.containers[0]?.ports, [
      { containerPort: 80, hostPort: 80, protocol: 'TCP' },
    ]);
  });

  test('is probed every ten seconds', () => {
    const { livenessProbe, readinessProbe, lifecycle }: Partial<Container> =
      onlyContainer({
        livenessProbe: { httpGet: { port: 80 } },
        readinessProbe: { grpc: { port: 80 }, periodSeconds: 3, timeoutSeconds: 0 },
        lifecycle: { preStop: { httpGet: { port: 80 } } },
      }) ?? {};
    const httpGet = { port: 80, path: '/', scheme: 'HTTP' };
    const numbers = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
    assert.deepEqual(livenessProbe, { httpGet, ...numbers });
    assert.deepEqual(readinessProbe, { grpc: { port: 80, service: '' }, ...numbers, periodSeconds: 3 });
    assert.deepEqual(lifecycle, { preStop: { httpGet } });
  });

  test('is told about its pod in version 1', () => {
    const [field, resource] =
      onlyContainer({
        env: [
          { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'B', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        ],
      })?.env ?? [];
    assert.equal(field?.valueFrom?.fieldRef?.apiVersion, 'v1');
    assert.equal(resource?.valueFrom?.resourceFieldRef?.divisor, '0');
  });
});

test('volumes are readable by all, and without a source an empty folder', () => {
  const sources = {
    a: {},
    b: { secret: { secretName: 's' } },
    c: { configMap: { name: 'c' } },
    d: { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name' } }] } },
    e: { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
    f: { hostPath: { path: '/x' } },
    g: { iscsi: { targetPortal: 't', iqn: 'i', lun: 0 } },
    h: { rbd: { monitors: ['m'], image: 'i' } },
    i: { azureDisk: { diskName: 'd', diskURI: 'u' } },
    j: { scaleIO: { gateway: 'g', system: 's', secretRef: { name: 'x' } } },
    k: { ephemeral: { volumeClaimTemplate: { spec: {} } } },
    l: { image: { reference: 'model' } },
  };
  const volumes = Object.entries(sources).map(([name, source]) => ({ name, ...source }));
  assert.deepEqual(madeOf({ volumes }).spec?.volumes, [
    { name: 'a', emptyDir: {} },
    { name: 'b', secret: { secretName: 's', defaultMode: 420 } },
    { name: 'c', configMap: { name: 'c', defaultMode: 420 } },
    {
      name: 'd',
      downwardAPI: {
        items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name', apiVersion: 'v1' } }],
        defaultMode: 420,
      },
    },
    {
      name: 'e',
      projected: {
        sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }],
        defaultMode: 420,
      },
    },
    { name: 'f', hostPath: { path: '/x', type: '' } },
    { name: 'g', iscsi: { targetPortal: 't', iqn: 'i', lun: 0, iscsiInterface: 'default' } },
    {
      name: 'h',
      rbd: { monitors: ['m'], image: 'i', pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
    },
    {
      name: 'i',
      azureDisk: {
        diskName: 'd',
        diskURI: 'u',
        cachingMode: 'ReadWrite',
        kind: 'Shared',
        fsType: 'ext4',
        readOnly: false,
      },
    },
    {
      name: 'j',
      scaleIO: {
        gateway: 'g',
        system: 's',
        secretRef: { name: 'x' },
        storageMode: 'ThinProvisioned',
        fsType: 'xfs',
      },
    },
    { name: 'k', ephemeral: { volumeClaimTemplate: { spec: { volumeMode: 'Filesystem' } } } },
    { name: 'l', image: { reference: 'model', pullPolicy: 'Always' } },
  ]);
});

describe('the quality of service of a pod', () => {
  const qos = (...resources: object[]) =>
    madeOf({
      containers: resources.map((each, index) => ({ name: `c${index}`, image: 'a:1', resources: each })),
    }).status?.qosClass;
  const full = { limits: { cpu: '1', memory: '1Gi' } };

  test('is the best when all is limited and nothing less is asked for', () => {
    assert.equal(qos(full), 'Guaranteed');
    assert.equal(qos(full, { ...full, requests: { cpu: '1000m', memory: '1024Mi' } }), 'Guaranteed');
    assert.equal(qos({ ...full, requests: { cpu: '999m' } }), 'Burstable');
    assert.equal(qos({ limits: { cpu: '1' } }), 'Burstable');
    assert.equal(qos(full, {}), 'Burstable');
    assert.equal(qos({ requests: { memory: '1' } }), 'Burstable');
  });

  test('is the least when none is asked for', () => {
    assert.equal(qos({}), 'BestEffort');
    assert.equal(qos({ requests: { cpu: '0' } }), 'BestEffort');
    assert.equal(qos({ limits: { 'example.com/device': '1' } }), 'BestEffort');
  });

  test('counts init containers, and the pod as a whole before its containers', () => {
    const initContainers = [{ name: 'i', image: 'a:1', resources: { requests: { cpu: '1' } } }];
    assert.equal(madeOf({ initContainers }).status?.qosClass, 'Burstable');
    assert.equal(madeOf({ resources: full }).status?.qosClass, 'Guaranteed');
  });
});

test('a new pod brings no state along, and one that is held back says so', () => {
  const pod = made({ ...madeOf({}), status: { phase: 'Running', podIP: '1.2.3.4' } });
  assert.deepEqual(pod.status, { phase: 'Pending', qosClass: 'BestEffort' });
  const [condition] = madeOf({ schedulingGates: [{ name: 'example.com/wait' }] }).status?.conditions ?? [];
  assert.equal(condition?.reason, 'SchedulingGated');
  assert.equal(podKind.columns[1]?.value(madeOf({ schedulingGates: [{ name: 'x' }] }), 0), 'SchedulingGated');
});

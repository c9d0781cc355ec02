import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiObject, Kind, Pod } from '../../../../../src/api/index.ts';
import {
  controllerRevisionKind,
  daemonSetKind,
  deploymentKind,
  podKind,
  replicaSetKind,
  statefulSetKind,
} from '../../../../../src/api/index.ts';

/*
 * The templates of pods and of claims in workloads: what pods get from their workload is known when they are checked.
 */

type Any = Record<string, unknown>;
interface Templated {
  spec: { template: { spec: NonNullable<Pod['spec']> } };
}

const labels = { app: 'db' };
const selector = { matchLabels: labels };
const container = { name: 'db', image: 'db' };
const mounting = { ...container, volumeMounts: [{ name: 'data', mountPath: '/data' }] };
const template = (spec: Any) => ({ metadata: { labels }, spec });
const claim = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

function settled<T extends ApiObject>(kind: Kind<T>, fields: Any): T {
  const object = { metadata: { name: 'one', uid: 'uid-1' }, ...structuredClone(fields) };
  return kind.default(kind.prepare(object as unknown as T, undefined));
}

function causes<T extends ApiObject>(kind: Kind<T>, fields: Any, old?: Any): string[] {
  const before = old === undefined ? undefined : settled(kind, old);
  return kind.validate(settled(kind, fields), before).map(({ field, message }) => `${field}: ${message}`);
}

const stateful = (fields: Any) => ({
  spec: {
    selector,
    template: template({ containers: [mounting] }),
    volumeClaimTemplates: [claim],
    ...fields,
  },
});
const badSpec = { metadata: { name: 'data' }, spec: {} };

describe('a StatefulSet', () => {
  test('may mount the claims of its templates', () => {
    assert.deepEqual(causes(statefulSetKind, stateful({})), []);
    assert.deepEqual(causes(statefulSetKind, stateful({ replicas: 3 }), stateful({})), []);
  });

  test('may have a volume with the name of a claim, which the claim takes the place of', () => {
    const spec = { containers: [mounting], volumes: [{ name: 'data', emptyDir: {} }] };
    assert.deepEqual(causes(statefulSetKind, stateful({ template: template(spec) })), []);
  });

  test('may not mount what is neither a volume nor a claim', () => {
    assert.deepEqual(causes(statefulSetKind, stateful({ volumeClaimTemplates: [] })), [
      'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"',
    ]);
  });

  test('needs claims that can be made', () => {
    assert.deepEqual(causes(statefulSetKind, stateful({ volumeClaimTemplates: [badSpec] })), [
      'spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required',
      'spec.volumeClaimTemplates[0].spec.resources[storage]: Required value',
    ]);
  });

  test('keeps what it was stored with', () => {
    const stored = stateful({ volumeClaimTemplates: [badSpec], serviceName: 'Not_A_Name' });
    assert.deepEqual(causes(statefulSetKind, stored, stored), []);
  });

  test('needs a name that pods can have, and a service that can be there', () => {
    assert.equal(statefulSetKind.nameRule, 'label');
    const [found = ''] = causes(statefulSetKind, stateful({ serviceName: 'Not_A_Name' }));
    assert.match(found, /^spec\.serviceName: Invalid value: "Not_A_Name": a lowercase RFC 1123 label/);
  });

  test('cannot be updated without a pod ever missing', () => {
    for (const maxUnavailable of [0, '0%']) {
      const found = causes(
        statefulSetKind,
        stateful({ updateStrategy: { rollingUpdate: { maxUnavailable } } }),
      );
      assert.deepEqual(found, [
        `spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: ${JSON.stringify(maxUnavailable)}: cannot be 0`,
      ]);
    }
  });
});

const withoutSelector =
  'spec.template.metadata.labels: Invalid value: {"app":"db"}: `selector` does not match template `labels`';

for (const kind of [deploymentKind, replicaSetKind, daemonSetKind, statefulSetKind] as unknown as Kind[])
  describe(`the template of a ${kind.kind}`, () => {
    test('is selected by nothing without a selector', () => {
      assert.deepEqual(causes(kind, { spec: { template: template({ containers: [container] }) } }), [
        withoutSelector,
      ]);
    });

    test('says only what its writer has said: pods get the rest', () => {
      const resources = { limits: { cpu: '1' } };
      const ports = [{ containerPort: 80 }];
      const pods = { hostNetwork: true, containers: [{ ...container, resources, ports }] };
      const workload = settled(kind, {
        spec: { selector, template: template(pods) },
      }) as unknown as Templated;
      const { spec } = workload.spec.template;
      assert.equal(spec.enableServiceLinks, undefined);
      assert.deepEqual(spec.containers[0]?.resources, resources);
      assert.deepEqual(spec.containers[0].ports, [{ containerPort: 80, protocol: 'TCP' }]);
      assert.deepEqual(causes(kind, { spec: { selector, template: template(pods) } }), []);
      const pod = settled(podKind, { spec: pods });
      assert.equal(pod.spec?.enableServiceLinks, true);
      assert.deepEqual(pod.spec?.containers?.[0]?.resources, { requests: { cpu: '1' }, ...resources });
      assert.equal(pod.spec.containers[0].ports?.[0]?.hostPort, 80);
      assert.deepEqual(causes(podKind, { spec: pods }), []);
    });

    test('may mount a token of the account that its pods get', () => {
      const projected = { sources: [{ serviceAccountToken: { path: 'token' } }] };
      const spec = { containers: [container], volumes: [{ name: 'token', projected }] };
      assert.deepEqual(causes(kind, { spec: { selector, template: template(spec) } }), []);
    });

    test('has no ephemeral containers', () => {
      const spec = { containers: [container], ephemeralContainers: [{ name: 'debug', image: 'sh' }] };
      assert.deepEqual(causes(kind, { spec: { selector, template: template(spec) } }), [
        'spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template',
      ]);
    });
  });

test('a ControllerRevision keeps an object', () => {
  for (const data of [5, 'text', [1]])
    assert.deepEqual(causes(controllerRevisionKind, { revision: 1, data }), [
      'data: Required value: data must be a valid JSON object',
    ]);
});

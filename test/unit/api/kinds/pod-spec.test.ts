import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podKind } from '../../../../src/api/index.ts';
import { madeOf, wrongWith } from './pod-examples.ts';

describe('a pod', () => {
  test('without a spec lacks containers', () => {
    const [cause] = podKind.validate({ metadata: { name: 'a' } }, undefined);
    assert.equal(cause?.field, 'spec.containers');
  });

  test('has policies that are known', () => {
    assert.deepEqual(
      wrongWith({
        restartPolicy: 'Sometimes',
        dnsPolicy: 'Custom',
        preemptionPolicy: 'x',
        os: { name: 'dos' },
      }),
      [
        'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
        'spec.dnsPolicy: Unsupported value: "Custom": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
        'spec.preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"',
        'spec.os.name: Unsupported value: "dos": supported values: "linux", "windows"',
      ],
    );
  });

  test('has deadlines that come', () => {
    assert.deepEqual(wrongWith({ activeDeadlineSeconds: 1 }), []);
    assert.deepEqual(wrongWith({ activeDeadlineSeconds: 0 }), [
      'spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
    ]);
  });

  test('that is to stop before it began is warned of', () => {
    assert.deepEqual(wrongWith({ terminationGracePeriodSeconds: -5 }), []);
    assert.match(
      podKind.warnings(madeOf({ terminationGracePeriodSeconds: -5 }), undefined)[0] ?? '',
      /must be >= 0/,
    );
  });

  test('is warned of what hides something', () => {
    const container = {
      name: 'm',
      image: 'x',
      env: [{ name: 'A' }, { name: 'A' }],
      ports: [{ containerPort: 1 }, { containerPort: 1, name: 'x' }],
    };
    assert.deepEqual(podKind.warnings(madeOf({ containers: [container] }), undefined), [
      'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
      'spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]',
    ]);
  });

  test('refers to others by names that they can have', () => {
    for (const field of [
      'nodeName',
      'serviceAccountName',
      'priorityClassName',
      'runtimeClassName',
      'hostname',
      'subdomain',
    ]) {
      assert.match(
        wrongWith({ [field]: 'A b' })[0] ?? '',
        new RegExp(`^spec.${field}: Invalid value: "A b"`),
        field,
      );
    }
    assert.match(
      wrongWith({ nodeSelector: { 'a b': 'c' } })[0] ?? '',
      /^spec.nodeSelector: Invalid value: "a b"/,
    );
    assert.match(wrongWith({ nodeSelector: { a: '-' } })[0] ?? '', /^spec.nodeSelector: Invalid value: "-"/);
  });

  test('knows hosts by their addresses', () => {
    assert.deepEqual(wrongWith({ hostAliases: [{ ip: '::1', hostnames: ['a.b'] }] }), []);
    assert.deepEqual(wrongWith({ hostAliases: [{ ip: '1.2.3', hostnames: [] }] }), [
      'spec.hostAliases[0].ip: Invalid value: "1.2.3": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ]);
  });

  test('resolves names within the limits of the resolver', () => {
    assert.deepEqual(wrongWith({ dnsPolicy: 'None' }), [
      'spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None',
    ]);
    assert.equal(wrongWith({ dnsPolicy: 'None', dnsConfig: { searches: ['a'] } }).length, 1);
    const nameservers = ['1.1.1.1', '1.1.1.2', '1.1.1.3', 'four'];
    assert.equal(wrongWith({ dnsConfig: { nameservers } }).length, 2);
    assert.equal(wrongWith({ dnsConfig: { searches: Array(33).fill('a') } }).length, 1);
    assert.equal(wrongWith({ dnsConfig: { searches: ['-'], options: [{ value: 'x' }] } }).length, 2);
  });

  test('does not share half of the node', () => {
    assert.deepEqual(wrongWith({ hostUsers: false, hostPID: true }), [
      'spec.hostPID: Forbidden: when `pod.Spec.HostUsers` is false',
    ]);
    assert.equal(wrongWith({ hostPID: true, shareProcessNamespace: true }).length, 1);
    assert.equal(wrongWith({ securityContext: { fsGroup: -1, supplementalGroups: [1, -2] } }).length, 2);
    assert.equal(wrongWith({ securityContext: { sysctls: [{ name: 'A', value: '' }] } }).length, 1);
    assert.equal(
      wrongWith({
        securityContext: {
          sysctls: [
            { name: 'a.b', value: '' },
            { name: 'a.b', value: '' },
          ],
        },
      }).length,
      1,
    );
    assert.deepEqual(wrongWith({ securityContext: { fsGroupChangePolicy: 'Never' } }), [
      'spec.securityContext.fsGroupChangePolicy: Unsupported value: "Never": supported values: "Always", "OnRootMismatch"',
    ]);
  });

  test('claims nothing as a whole', () => {
    assert.deepEqual(
      wrongWith({ resources: { claims: [{ name: 'a' }] } })[0],
      'spec.resources.claims: Forbidden: claims cannot be set for Resources at pod-level',
    );
  });

  test('that is new has no containers for debugging, and is not placed while it is held back', () => {
    const ephemeralContainers = [{ name: 'debug', image: 'x' }];
    assert.deepEqual(wrongWith({ ephemeralContainers }), [
      'spec.ephemeralContainers: Forbidden: cannot be set on create',
    ]);
    assert.deepEqual(wrongWith({ nodeName: 'n', schedulingGates: [{ name: 'a' }] }), [
      'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
    ]);
    assert.equal(wrongWith({ schedulingGates: [{ name: 'a' }, { name: 'a' }] }).length, 1);
    assert.equal(wrongWith({ readinessGates: [{ conditionType: 'a b' }] }).length, 1);
  });
});

describe('tolerations', () => {
  const tolerate = (toleration: object) => wrongWith({ tolerations: [toleration] });
  const at = 'spec.tolerations[0]';

  test('of every key need Exists, and Exists no value', () => {
    assert.deepEqual(tolerate({ operator: 'Exists' }), []);
    assert.deepEqual(tolerate({ key: 'a', value: 'b' }), []);
    assert.deepEqual(tolerate({ operator: 'Equal', value: 'b' }), [
      `${at}.operator: Invalid value: "Equal": operator must be Exists when \`key\` is empty, which means "match all values and all keys"`,
    ]);
    assert.deepEqual(tolerate({ key: 'a', operator: 'Exists', value: 'b' }), [
      `${at}.operator: Invalid value: "b": value must be empty when \`operator\` is 'Exists'`,
    ]);
    assert.deepEqual(tolerate({ key: 'a', operator: 'Like' }), [
      `${at}.operator: Unsupported value: "Like": supported values: "Equal", "Exists"`,
    ]);
  });

  test('are of effects that there are, and end only where pods are evicted', () => {
    assert.deepEqual(tolerate({ key: 'a', effect: 'NoMatter' }), [
      `${at}.effect: Unsupported value: "NoMatter": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
    ]);
    assert.deepEqual(tolerate({ key: 'a', effect: 'NoSchedule', tolerationSeconds: 1 }), [
      `${at}.effect: Invalid value: "NoSchedule": effect must be 'NoExecute' when \`tolerationSeconds\` is set`,
    ]);
  });
});

describe('placement', () => {
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
  const nodes = (nodeAffinity: object) => wrongWith({ affinity: { nodeAffinity } });
  const terms = (...nodeSelectorTerms: object[]) => nodes({ [required]: { nodeSelectorTerms } });
  const at = `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms`;

  test('asks for nodes in terms that can match', () => {
    assert.deepEqual(terms(), [`${at}: Required value: must have at least one node selector term`]);
    const expression = (given: object) => terms({ matchExpressions: [{ key: 'a', ...given }] });
    assert.deepEqual(expression({ operator: 'Gt', values: ['1'] }), []);
    assert.deepEqual(expression({ operator: 'In' }), [
      `${at}[0].matchExpressions[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
    ]);
    assert.equal(expression({ operator: 'Exists', values: ['a'] }).length, 1);
    assert.equal(expression({ operator: 'Lt', values: ['1', '2'] }).length, 1);
    assert.deepEqual(expression({ operator: 'Is' }), [
      `${at}[0].matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`,
    ]);
    assert.equal(terms({ matchFields: [{ key: 'metadata.uid', operator: 'In', values: ['a'] }] }).length, 1);
  });

  test('prefers with a weight from 1 to 100', () => {
    const weigh = (weight: number) => nodes({ [preferred]: [{ weight, preference: {} }] });
    assert.deepEqual([weigh(1), weigh(100)], [[], []]);
    assert.deepEqual(weigh(101), [
      `spec.affinity.nodeAffinity.${preferred}[0].weight: Invalid value: 101: must be in the range 1-100`,
    ]);
  });

  test('is near pods that are told by labels, in a topology', () => {
    const near = (term: object) => wrongWith({ affinity: { podAffinity: { [required]: [term] } } });
    assert.deepEqual(near({ topologyKey: 'zone', labelSelector: {} }), []);
    assert.match(near({ topologyKey: '' })[0] ?? '', /topologyKey: Required value: can not be empty/);
    assert.match(
      near({ topologyKey: 'z', matchLabelKeys: ['a'] })[0] ?? '',
      /must not be specified when labelSelector is not set/,
    );
    const bad = { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] };
    assert.equal(near({ topologyKey: 'z', labelSelector: bad }).length, 1);
    assert.equal(near({ topologyKey: 'z', namespaces: ['A'] }).length, 1);
  });

  test('spreads by some number over domains that there are', () => {
    const spread = (...given: object[]) =>
      wrongWith({
        topologySpreadConstraints: given.map((each) => ({
          maxSkew: 1,
          topologyKey: 'zone',
          whenUnsatisfiable: 'DoNotSchedule',
          ...each,
        })),
      });
    const one = 'spec.topologySpreadConstraints[0]';
    assert.deepEqual(spread({}), []);
    assert.deepEqual(spread({ maxSkew: 0 }), [`${one}.maxSkew: Invalid value: 0: must be greater than zero`]);
    assert.match(
      spread({ whenUnsatisfiable: 'Cry' })[0] ?? '',
      /whenUnsatisfiable: Unsupported value: "Cry"/,
    );
    assert.deepEqual(spread({ whenUnsatisfiable: 'ScheduleAnyway', minDomains: 2 }), [
      `${one}.minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway`,
    ]);
    assert.deepEqual(spread({}, {}), [
      'spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"',
    ]);
    assert.equal(spread({ nodeTaintsPolicy: 'Shrug' }).length, 1);
  });
});

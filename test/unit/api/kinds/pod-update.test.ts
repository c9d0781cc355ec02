import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../../src/api/index.ts';
import { podChangeCauses, podKind } from '../../../../src/api/index.ts';
import type { PodSpec } from './pod-examples.ts';
import { least, madeOf } from './pod-examples.ts';

/** `field: message` of what is wrong with a change of the spec through a path. */
function changed(from: object, change: (spec: PodSpec) => object, subresource = ''): string[] {
  const old = madeOf(from);
  const spec = old.spec ?? { containers: [] };
  const next: Pod = podKind.default({
    ...old,
    spec: { ...structuredClone(spec), ...change(structuredClone(spec)) },
  });
  const causes = [...podKind.validate(next, old), ...podChangeCauses(next, old, subresource)];
  return causes.map(({ field, message }) => `${field}: ${message}`);
}

const withImages = (spec: PodSpec, image: string) =>
  spec.containers.map((container) => ({ ...container, image }));
const fixed = /^spec: Forbidden: pod updates may not change fields other than `spec.containers\[\*\].image`,/;

describe('through its own path a pod', () => {
  test('can get other images', () => {
    assert.deepEqual(
      changed({}, (spec) => ({ containers: withImages(spec, 'app:2') })),
      [],
    );
    assert.deepEqual(
      changed({ initContainers: [{ name: 'i', image: 'a' }] }, (spec) => ({
        initContainers: spec.initContainers?.map((container) => ({ ...container, image: 'b' })),
      })),
      [],
    );
    assert.deepEqual(
      changed({}, (spec) => ({ containers: withImages(spec, ' ') })),
      ['spec.containers[0].image: Invalid value: " ": must not have leading or trailing whitespace'],
    );
  });

  test('keeps its containers', () => {
    assert.deepEqual(
      changed({}, ({ containers }) => ({ containers: [...containers, { name: 'b', image: 'b' }] })),
      ['spec.containers: Forbidden: pod updates may not add or remove containers'],
    );
  });

  test('can be given less time, not more', () => {
    const deadline = (from: number | undefined, to: number | undefined) =>
      changed(from === undefined ? {} : { activeDeadlineSeconds: from }, () => ({
        activeDeadlineSeconds: to,
      }));
    assert.deepEqual(deadline(undefined, 10), []);
    assert.deepEqual(deadline(10, 9), []);
    assert.deepEqual(deadline(10, 11), [
      'spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal to previous value',
    ]);
    assert.deepEqual(deadline(10, undefined), [
      'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
    ]);
  });

  test('can tolerate more, and what it tolerates for another time', () => {
    const old = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 };
    const tolerate = (...tolerations: object[]) => changed({ tolerations: [old] }, () => ({ tolerations }));
    assert.deepEqual(tolerate(old, { key: 'b', operator: 'Exists' }), []);
    assert.deepEqual(tolerate({ ...old, tolerationSeconds: 5 }), []);
    const lost = [
      'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
    ];
    assert.deepEqual(tolerate({ ...old, key: 'b' }), lost);
    assert.deepEqual(tolerate(), lost);
  });

  test('can lose gates, and be placed more closely while it has some', () => {
    const gates = [{ name: 'example.com/a' }, { name: 'example.com/b' }];
    const from = { schedulingGates: gates, nodeSelector: { a: 'b' } };
    assert.deepEqual(
      changed(from, () => ({ schedulingGates: gates.slice(1) })),
      [],
    );
    assert.deepEqual(
      changed(from, () => ({ schedulingGates: [] })),
      [],
    );
    assert.deepEqual(
      changed(from, () => ({ schedulingGates: [...gates, { name: 'c' }] })),
      [
        "spec.schedulingGates[2].name: Forbidden: only deletion is allowed, but found new scheduling gate 'c'",
      ],
    );
    assert.deepEqual(
      changed(from, () => ({ nodeSelector: { a: 'b', c: 'd' } })),
      [],
    );
    assert.equal(changed(from, () => ({ nodeSelector: { c: 'd' } })).length, 1);
    assert.match(changed({}, () => ({ nodeSelector: { c: 'd' } }))[0] ?? '', fixed);
    const affinity = {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
        },
      },
    };
    assert.deepEqual(
      changed(from, () => ({ affinity })),
      [],
    );
    assert.match(changed({}, () => ({ affinity }))[0] ?? '', fixed);
  });

  test('that is to stop before it began can stop after a second', () => {
    const grace = (from: number, to: number) =>
      changed({ terminationGracePeriodSeconds: from }, () => ({ terminationGracePeriodSeconds: to }));
    assert.deepEqual(grace(-1, 1), []);
    assert.match(grace(-1, 2)[0] ?? '', fixed);
    assert.match(grace(30, 1)[0] ?? '', fixed);
  });

  test('changes in nothing else, and is told in what it would', () => {
    const [cause = ''] = changed({}, () => ({ nodeName: 'n', hostNetwork: true }));
    assert.match(cause, fixed);
    assert.match(cause, /\nchanged: spec.nodeName, spec.hostNetwork$/);
    const add = (spec: PodSpec) => ({
      containers: spec.containers.map((container) => ({ ...container, env: [{ name: 'A' }] })),
    });
    assert.match(changed({}, add)[0] ?? '', /changed: spec.containers\[0\].env$/);
    const debug = [{ name: 'debug', image: 'x' }];
    assert.match(
      changed({}, () => ({ ephemeralContainers: debug }))[0] ?? '',
      /changed: spec.ephemeralContainers$/,
    );
  });
});

describe('what a client leaves out or writes in another way', () => {
  const [main] = least.containers;

  test('is no change where it says the same', () => {
    const from = {
      hostNetwork: false,
      hostname: '',
      volumes: [],
      nodeSelector: {},
      containers: [
        { ...main, stdin: false, env: [], resources: { limits: { cpu: '1000m', memory: '1Gi' } } },
      ],
    };
    const unsaid = ({ hostNetwork, hostname, volumes, nodeSelector, ...spec }: PodSpec) => ({
      ...spec,
      hostNetwork: undefined,
      hostname: undefined,
      volumes: undefined,
      nodeSelector: undefined,
      containers: [
        {
          ...main,
          ...spec.containers[0],
          stdin: undefined,
          resources: { limits: { cpu: '1', memory: '1024Mi' } },
        },
      ],
    });
    assert.deepEqual(changed(from, unsaid), []);
  });

  test('is one where absence says something', () => {
    assert.match(
      changed({ enableServiceLinks: false }, () => ({ enableServiceLinks: undefined }))[0] ?? '',
      fixed,
    );
    assert.match(changed({ priority: 0 }, () => ({ priority: undefined }))[0] ?? '', fixed);
    const limits = (memory: string) => ({ containers: [{ ...main, resources: { limits: { memory } } }] });
    assert.match(changed(limits('1Gi'), () => limits('1G'))[0] ?? '', fixed);
    const isolated = { containers: [{ ...main, securityContext: {} }] };
    assert.match(changed({}, () => isolated)[0] ?? '', /changed: spec.containers\[0\].securityContext$/);
  });
});

describe('through ephemeralcontainers', () => {
  const debug = { name: 'debug', image: 'busybox', targetContainerName: 'main', stdin: true };
  const add = (...ephemeralContainers: object[]) =>
    changed({}, () => ({ ephemeralContainers }), 'ephemeralcontainers');

  test('containers are added', () => {
    assert.deepEqual(add(debug), []);
    assert.deepEqual(add(debug, { ...debug, name: 'more' }), []);
  });

  test('they bear names of their own, look into containers that exist, and are no part of the workload', () => {
    const at = 'spec.ephemeralContainers[0]';
    assert.deepEqual(add({ ...debug, name: 'main' }), [`${at}.name: Duplicate value: "main"`]);
    assert.deepEqual(add({ ...debug, targetContainerName: 'x' }), [
      `${at}.targetContainerName: Not found: "x"`,
    ]);
    const wrong = 'Forbidden: cannot be set for an Ephemeral Container';
    assert.deepEqual(
      add({ ...debug, ports: [{ containerPort: 1 }], resources: { requests: { cpu: '1' } } }),
      [`${at}.ports: ${wrong}`, `${at}.resources: ${wrong}`],
    );
    assert.deepEqual(add({ ...debug, volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'b' }] }), [
      `${at}.volumeMounts[0].name: Not found: "v"`,
      `${at}.volumeMounts[0].subPath: ${wrong}`,
    ]);
  });

  test('those that are there stay as they are', () => {
    const old = madeOf({ ephemeralContainers: [debug] });
    const through = (ephemeralContainers: PodSpec['ephemeralContainers'] = []) => {
      const spec: PodSpec = { ...least, ...old.spec, ephemeralContainers };
      return podChangeCauses({ ...old, spec }, old, 'ephemeralcontainers').map(({ message }) => message);
    };
    assert.deepEqual(through(), ['Forbidden: existing ephemeral containers "debug" may not be removed\n']);
    assert.deepEqual(through([{ ...debug, image: 'other' }]), [
      'Forbidden: existing ephemeral containers "debug" may not be changed\n',
    ]);
    assert.deepEqual(through(old.spec?.ephemeralContainers), []);
  });
});

describe('through status', () => {
  const old = madeOf({
    restartPolicy: 'OnFailure',
    resourceClaims: [{ name: 'gpu', resourceClaimName: 'x' }],
  });
  const ended = (exitCode: number) => ({ terminated: { exitCode } });
  const container = (state: object) => ({
    name: 'main',
    ready: false,
    restartCount: 0,
    image: 'a',
    imageID: 'b',
    state,
  });
  const to = (status: Pod['status'], before: Pod['status'] = {}) =>
    podChangeCauses(
      { ...old, status: { qosClass: 'BestEffort', ...status } },
      { ...old, status: { qosClass: 'BestEffort', ...before } },
      'status',
    ).map(({ field, message }) => `${field}: ${message}`);

  test('what has ended well stays so, what has failed may begin again', () => {
    const statuses = (state: object) => ({ containerStatuses: [container(state)] });
    assert.deepEqual(to(statuses({ running: {} }), statuses(ended(0))), [
      'status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
    ]);
    assert.deepEqual(to(statuses({ running: {} }), statuses(ended(1))), []);
    assert.deepEqual(to(statuses(ended(0)), statuses({ running: {} })), []);
    const debug = (state: object) => ({ ephemeralContainerStatuses: [container(state)] });
    assert.equal(to(debug({ running: {} }), debug(ended(1))).length, 1, 'what is for debugging runs once');
  });

  test('a container with a policy or rules of its own begins again by these', () => {
    const begins = (own: object) => {
      const [first] = old.spec?.containers ?? [];
      const containers = [{ name: 'main', image: 'a', ...first, ...own }];
      const pod = { ...old, spec: { ...old.spec, restartPolicy: 'Never', containers } };
      const withState = (state: object) => ({
        ...pod,
        status: { qosClass: 'BestEffort', containerStatuses: [container(state)] },
      });
      return podChangeCauses(withState({ running: {} }), withState(ended(3)), 'status').length === 0;
    };
    const rule = (action: string, values: readonly number[]) => ({
      restartPolicy: 'Never',
      restartPolicyRules: [{ action, exitCodes: { operator: 'In', values: [...values] } }],
    });
    assert.equal(begins({}), false);
    assert.equal(begins({ restartPolicy: 'Always' }), true);
    assert.equal(begins(rule('Restart', [3])), true);
    assert.equal(begins(rule('Restart', [4])), false);
    assert.equal(begins(rule('RestartAllContainers', [4])), true);
  });

  test('the quality of service stays', () => {
    assert.deepEqual(to({ qosClass: 'Guaranteed' }), [
      'status.qosClass: Invalid value: "Guaranteed": field is immutable',
    ]);
  });

  test('addresses are at most one of each family', () => {
    assert.deepEqual(to({ podIPs: [{ ip: '1.2.3.4' }, { ip: 'fd00::1' }] }), []);
    assert.equal(to({ podIPs: [{ ip: '1.2.3.4' }, { ip: '1.2.3.5' }] }).length, 1);
    assert.equal(to({ podIPs: [{ ip: 'somewhere' }] }).length, 1);
    assert.deepEqual(to({ hostIP: '1.2.3.4', hostIPs: [{ ip: '1.2.3.5' }] }), [
      'status.hostIPs[0].ip: Invalid value: "1.2.3.5": must be equal to `hostIP`',
    ]);
  });

  test('claims are those of the pod, names are names', () => {
    assert.deepEqual(to({ resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'x' }] }), []);
    assert.equal(to({ resourceClaimStatuses: [{ name: 'fpga' }] }).length, 1);
    assert.equal(to({ nominatedNodeName: 'A b' }).length, 1);
    assert.equal(to({ conditions: [{ type: 'a b', status: 'True' }] }).length, 1);
  });
});

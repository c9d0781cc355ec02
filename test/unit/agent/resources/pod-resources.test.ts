import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cpuMillis, groupLimitsOf, wholeOf } from '../../../../src/agent/resources/index.ts';
import type { Pod } from '../../../../src/api/index.ts';
import { podLimits, podRequests, qosClassOf } from '../../../../src/api/index.ts';

type Spec = NonNullable<Pod['spec']>;
type Container = NonNullable<Spec['containers']>[number];

function cpu(request: string, limit?: string): Container {
  const limits = limit === undefined ? {} : { limits: { cpu: limit } };
  return { name: 'c', image: 'i', resources: { requests: { cpu: request }, ...limits } };
}

const sidecar = (request: string, limit?: string): Container => ({
  ...cpu(request, limit),
  restartPolicy: 'Always',
});

function full(amount: { cpu: string; memory: string }): Container {
  return { name: 'c', image: 'i', resources: { requests: amount, limits: amount } };
}

describe('what a pod requests', () => {
  const cases: [name: string, spec: Spec, millis: number][] = [
    ['nothing', { containers: [{ name: 'c', image: 'i' }] }, 0],
    ['the sum of its containers', { containers: [cpu('100m'), cpu('0.2')] }, 300],
    [
      'the largest init container, when that is more',
      { initContainers: [cpu('1'), cpu('2')], containers: [cpu('1')] },
      2000,
    ],
    ['the sum, when that is more', { initContainers: [cpu('1')], containers: [cpu('1'), cpu('1')] }, 2000],
    ['sidecars beside the containers', { initContainers: [sidecar('300m')], containers: [cpu('1')] }, 1300],
    [
      'sidecars that were started before an init container beside that',
      { initContainers: [sidecar('300m'), cpu('2'), sidecar('500m')], containers: [cpu('1')] },
      2300,
    ],
    [
      'a sidecar that starts after the init container not beside that',
      { initContainers: [cpu('2'), sidecar('300m')], containers: [cpu('1')] },
      2000,
    ],
    ['its overhead on top', { overhead: { cpu: '250m' }, containers: [cpu('1')] }, 1250],
    ['what it says as a whole', { resources: { requests: { cpu: '3' } }, containers: [cpu('1')] }, 3000],
    [
      'the overhead on top of that too',
      { overhead: { cpu: '1' }, resources: { requests: { cpu: '3' } }, containers: [cpu('1')] },
      4000,
    ],
    ['fractions of a thousandth rounded up', { containers: [cpu('1u')] }, 1],
  ];
  for (const [name, spec, millis] of cases) {
    test(name, () => {
      assert.equal(cpuMillis(podRequests({ spec }, { withOverhead: true }).get('cpu')), millis);
    });
  }

  test('and its limits: the overhead counts only for what is limited', () => {
    const spec = {
      overhead: { cpu: '250m', memory: '10Mi' },
      initContainers: [sidecar('0', '500m')],
      containers: [cpu('0', '1'), cpu('0')],
    };
    const limits = podLimits({ spec }, { withOverhead: true });
    assert.equal(cpuMillis(limits.get('cpu')), 1750);
    assert.equal(limits.has('memory'), false);
    assert.equal(cpuMillis(podLimits({ spec }, { withOverhead: false }).get('cpu')), 1500);
  });
});

test('whatever the order of init containers and sidecars, a pod requests what runs side by side at its fullest', () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const random = (limit: number, salt: number) => ((seed + 1) * (salt + 7) * 2654435761) % limit;
    const initContainers = Array.from({ length: random(6, 1) }, (_, index) => {
      const millis = `${random(1000, index + 2)}m`;
      return random(2, index + 11) === 0 ? sidecar(millis) : cpu(millis);
    });
    const containers = Array.from({ length: 1 + random(3, 21) }, (_, index) =>
      cpu(`${random(1000, index + 31)}m`),
    );
    const requests = podRequests({ spec: { initContainers, containers } }, { withOverhead: true });
    assert.equal(cpuMillis(requests.get('cpu')), fullest(initContainers, containers), `seed ${seed}`);
  }
});

/** Starts one after the other, and adds up what runs after each. */
function fullest(initContainers: readonly Container[], containers: readonly Container[]): number {
  const millisOf = ({ resources }: Container) => Number.parseInt(resources?.requests?.['cpu'] ?? '0', 10);
  let running = 0;
  let max = 0;
  for (const container of initContainers) {
    max = Math.max(max, running + millisOf(container));
    if (container.restartPolicy === 'Always') running += millisOf(container);
  }
  return Math.max(
    max,
    containers.reduce((sum, each) => sum + millisOf(each), running),
  );
}

describe('the class of a pod', () => {
  const whole = { cpu: '1', memory: '1Gi' };
  const cases: [name: string, pod: Pod, qos: string][] = [
    ['without requests', { spec: { containers: [{ name: 'c', image: 'i' }] } }, 'BestEffort'],
    ['with one request', { spec: { containers: [cpu('1m')] } }, 'Burstable'],
    ['with all limits', { spec: { containers: [full(whole), full(whole)] } }, 'Guaranteed'],
    [
      'with an init container without limits',
      { spec: { initContainers: [cpu('1')], containers: [full(whole)] } },
      'Burstable',
    ],
    [
      'as a whole',
      { spec: { resources: { requests: whole, limits: whole }, containers: [cpu('1m')] } },
      'Guaranteed',
    ],
    [
      'as its status has it',
      { status: { qosClass: 'Guaranteed' }, spec: { containers: [cpu('1m')] } },
      'Guaranteed',
    ],
    [
      'of an unknown word in its status',
      { status: { qosClass: '../x' }, spec: { containers: [cpu('1m')] } },
      'Burstable',
    ],
  ];
  for (const [name, pod, qos] of cases) test(name, () => assert.equal(qosClassOf(pod), qos));
});

describe('the limits of the group of a pod', () => {
  const settings = { cpuQuota: { isEnforced: true, periodUs: 100_000 } };
  const whole = { cpu: '500m', memory: '64Mi' };
  const cases: [name: string, spec: Spec, limits: object][] = [
    ['BestEffort has none', { containers: [{ name: 'c', image: 'i' }] }, { cpuShares: 2 }],
    [
      'Guaranteed has all',
      { containers: [full(whole)] },
      {
        cpuShares: 512,
        cpuQuota: { quotaUs: 50_000, periodUs: 100_000 },
        memoryBytes: 67_108_864,
        hugePages: new Map(),
      },
    ],
    [
      'a container without a limit takes it from the pod',
      { containers: [cpu('1', '2'), cpu('1')] },
      { cpuShares: 2048, hugePages: new Map() },
    ],
    [
      'an init container without a limit too',
      { initContainers: [cpu('1')], containers: [cpu('1', '2')] },
      { cpuShares: 1024, hugePages: new Map() },
    ],
    [
      'unless the pod has one as a whole',
      { resources: { limits: { cpu: '3' } }, containers: [cpu('1', '2'), cpu('1')] },
      { cpuShares: 2048, cpuQuota: { quotaUs: 300_000, periodUs: 100_000 }, hugePages: new Map() },
    ],
    [
      'huge pages by their size',
      {
        containers: [
          { name: 'c', image: 'i', resources: { requests: { cpu: '1', 'hugepages-2Mi': '8Mi' } } },
        ],
      },
      { cpuShares: 1024, hugePages: new Map([['2MB', 8 * 2 ** 20]]) },
    ],
  ];
  for (const [name, spec, limits] of cases) {
    test(name, () => assert.deepEqual(groupLimitsOf({ spec }, settings), limits));
  }

  test('without enforced quotas there is none; pids are limited where the node limits them', () => {
    const limits = groupLimitsOf(
      { spec: { containers: [full(whole)] } },
      { cpuQuota: { isEnforced: false, periodUs: 100_000 }, maxPids: 100 },
    );
    assert.deepEqual(limits, { cpuShares: 512, memoryBytes: 67_108_864, hugePages: new Map(), pids: 100 });
  });
});

test('amounts are rounded up to whole units', () => {
  assert.equal(wholeOf(1n), 1);
  assert.equal(wholeOf(1_000_000_001n), 2);
  assert.equal(wholeOf(undefined), 0);
});

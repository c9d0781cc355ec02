import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { containerHash, fnv1a } from '../../../../../src/agent/containers/index.ts';
import { container, exited, later, pod, running, table } from './support.ts';

const changed = (restartPolicy = 'Always') =>
  pod({ restartPolicy, regular: [container('web', { image: 'app:2' })] });
const inPolicy = (restartPolicy: string) => pod({ restartPolicy });
const alive = { containers: [running('web')] };
const dead = { liveness: false };

table('a container whose description changed', [
  [
    'another image stops it',
    { pod: changed(), ...alive },
    {
      steps: ['stop web-0 30s'],
      stop: {
        restarts: true,
        runsPreStop: true,
        message: 'Container web definition changed, will be restarted',
      },
    },
  ],
  [
    'with OnFailure',
    { pod: changed('OnFailure'), ...alive },
    { steps: ['stop web-0 30s'], stop: { restarts: true } },
  ],
  [
    'with Never too',
    { pod: changed('Never'), ...alive },
    { steps: ['stop web-0 30s'], stop: { restarts: true } },
  ],
  [
    'another command does not',
    { pod: pod({ regular: [container('web', { command: ['sh'] })] }), ...alive },
    [],
  ],
  [
    'other resources do not',
    { pod: pod({ regular: [container('web', { resources: { limits: { cpu: '1' } } })] }), ...alive },
    [],
  ],
  [
    'without the annotation it is taken as it is',
    { pod: changed(), containers: [running('web', 0, { annotations: {} })] },
    [],
  ],
  [
    'once it was stopped for that it is started, whatever it ended with',
    { pod: changed('Never'), containers: [exited('web', 0)], known: { web: { restartOf: 'web-0' } } },
    ['start web#1'],
  ],
  [
    'one that ended before is not started for it',
    { pod: changed('Never'), containers: [exited('web', 0)] },
    ['stopSandbox s0'],
  ],
  [
    'a stop that is under way is not repeated',
    {
      pod: changed(),
      ...alive,
      underWay: [
        {
          kind: 'stop',
          container: 'web',
          containerId: 'web-0',
          graceSeconds: 30,
          deadlineMs: later(9),
          message: '',
          runsPreStop: true,
        },
      ],
    },
    [],
  ],
  [
    'an ephemeral one goes on',
    {
      pod: pod({ ephemeralContainers: [{ name: 'e', image: 'app:2' }] }),
      containers: [running('web'), running('e')],
    },
    [],
  ],
]);

table('probes', [
  [
    'liveness failed',
    { ...alive, probes: { web: dead } },
    {
      steps: ['stop web-0 30s'],
      stop: { restarts: true, message: 'Container web failed liveness probe, will be restarted' },
    },
  ],
  [
    'startup failed',
    { ...alive, probes: { web: { startup: false } } },
    {
      steps: ['stop web-0 30s'],
      stop: { restarts: true, message: 'Container web failed startup probe, will be restarted' },
    },
  ],
  ['readiness failed: nothing', { ...alive, probes: { web: { readiness: false } } }, []],
  ['not known yet: nothing', { ...alive, probes: { web: {} } }, []],
  ['passed: nothing', { ...alive, probes: { web: { liveness: true, startup: true } } }, []],
  ["the probe's own grace", { ...alive, probes: { web: { ...dead, graceSeconds: 7 } } }, ['stop web-0 7s']],
  ['… at least 2 s', { ...alive, probes: { web: { ...dead, graceSeconds: 1 } } }, ['stop web-0 2s']],
  [
    'the grace of the pod',
    { pod: pod({ terminationGracePeriodSeconds: 12 }), ...alive, probes: { web: dead } },
    ['stop web-0 12s'],
  ],
  [
    'a pod without grace: 2 s',
    { pod: pod({ terminationGracePeriodSeconds: 0 }), ...alive, probes: { web: dead } },
    ['stop web-0 2s'],
  ],
  [
    'Never: it is stopped, and not restarted',
    { pod: inPolicy('Never'), ...alive, probes: { web: dead } },
    { steps: ['stop web-0 30s'], stop: { message: 'Container web failed liveness probe' } },
  ],
  [
    'OnFailure: it is restarted though it ends with 0',
    { pod: inPolicy('OnFailure'), containers: [exited('web', 0)], known: { web: { restartOf: 'web-0' } } },
    ['start web#1'],
  ],
  [
    'its own policy Always in a pod with Never',
    {
      pod: pod({ restartPolicy: 'Never', regular: [container('web', { restartPolicy: 'Always' })] }),
      ...alive,
      probes: { web: dead },
    },
    { stop: { restarts: true } },
  ],
  [
    'rules do not count: there is no exit code',
    {
      pod: pod({
        restartPolicy: 'Never',
        regular: [
          container('web', {
            restartPolicy: 'Never',
            restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [137] } }],
          }),
        ],
      }),
      ...alive,
      probes: { web: dead },
    },
    { stop: { message: 'Container web failed liveness probe' } },
  ],
  [
    'others go on',
    {
      pod: pod({ regular: [container('web'), container('b')] }),
      containers: [running('web'), running('b')],
      probes: { web: dead },
    },
    ['stop web-0 30s'],
  ],
]);

describe('the hash of a container', () => {
  it("is the reference's", () => {
    assert.equal(containerHash({ name: 'c', image: 'localhost/lab/busybox:1' }), 'aa834e24');
  });
  it('writes characters as its JSON does', () => {
    const escaped = containerHash({ name: 'c', image: 'a&b' });
    assert.notEqual(escaped, containerHash({ name: 'c', image: 'a\\u0026b' }));
    assert.equal(
      escaped,
      fnv1a(`([]uint8)[${[...Buffer.from('{"image":"a\\u0026b","name":"c"}')].join(' ')}]`),
    );
  });
});

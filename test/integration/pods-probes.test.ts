/** Probes of containers that run: each kind, and what follows from each. All pods share one node, and are tested at the same time. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../src/api/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { Container, PodNode } from './pods/index.ts';
import {
  containerOf,
  grpcHealthServer,
  isRunningAndReady,
  isTrue,
  script,
  sleeper,
  startPodNode,
  uidOf,
  webServer,
} from './pods/index.ts';

before(ensureBuilt);

let lab: PodNode;
before(async () => {
  lab = await startPodNode();
});
after(() => lab?.[Symbol.asyncDispose]());

/** What is to succeed may take long: the machine may be slow. */
const often = { periodSeconds: 1, timeoutSeconds: 30 };
const command = (text: string) => ({ exec: { command: ['/bin/sh', '-c', text] } });
const until = async (what: string, pod: Pod, fits: (pod: Pod) => boolean) =>
  (await lab.pods.until(what, uidOf(pod), (state) => fits(state.pod))).pod;
const ready = (pod: Pod) => until('it to be ready', pod, isRunningAndReady);
const run = (name: string, ...containers: Container[]) => lab.run(name, { containers });

/** Runs a command in a container of the pod. */
const inside = (pod: string, argv: readonly string[], container = 'main') =>
  lab.kubectl.run(['exec', pod, '-c', container, '--', ...argv]);

/** The messages of the Events of that reason about the pod. */
async function messagesOf(pod: Pod, reason: string): Promise<readonly string[]> {
  const selector = `involvedObject.uid=${uidOf(pod)},reason=${reason}`;
  const argv = [
    'get',
    'events',
    '--field-selector',
    selector,
    '-o',
    'jsonpath={range .items[*]}{.message}{"\\n"}{end}',
  ];
  return (await lab.kubectl.run(argv)).stdout.split('\n').filter((line) => line !== '');
}

const untilEvent = (pod: Pod, reason: string, message: RegExp) =>
  waitFor(`an Event ${reason} ${message}`, async () =>
    (await messagesOf(pod, reason)).some((each) => message.test(each)),
  );

/** Events are sent beside the status: the first may come after what it tells of. */
async function assertKilled(pod: Pod, ...messages: readonly string[]): Promise<void> {
  await untilEvent(pod, 'Killing', /./);
  assert.deepEqual(await messagesOf(pod, 'Killing'), messages);
}

async function explain(name: string): Promise<string> {
  const path = `/api/v1/nodes/lab/proxy/pods/explain/default/${name}`;
  return (await lab.kubectl.run(['get', '--raw', path])).stdout;
}

/** Whether it was ready at any time that the watch has told of. */
const wasReady = (pod: Pod) => lab.pods.history(uidOf(pod)).some((state) => isTrue(state.pod, 'Ready'));

describe('of all at the same time', { concurrency: true }, () => {
  describe('a container with a readiness probe', { concurrency: true }, () => {
    test('over HTTP, by the name of a port, is ready while it answers, and is not restarted when it does not', async () => {
      const httpGet = { port: 'web', path: '/index.html' };
      const pod = await run(
        'http',
        webServer(8080, 'hello', {
          ports: [{ name: 'web', containerPort: 8080 }],
          readinessProbe: { ...often, httpGet, failureThreshold: 2 },
        }),
      );
      await ready(pod);
      await inside('http', ['rm', '/tmp/www/index.html']);
      const { pod: unready } = await lab.pods.until('it to be unready', uidOf(pod), (state) => {
        const earlier = lab.pods.history(uidOf(pod)).filter(({ atMs }) => atMs < state.atMs);
        return earlier.some((each) => isTrue(each.pod, 'Ready')) && !isTrue(state.pod, 'Ready');
      });
      const condition = unready.status?.conditions?.find(({ type }) => type === 'ContainersReady');
      assert.equal(condition?.message, 'containers with unready status: [main]');
      assert.equal(containerOf(unready)?.restartCount, 0);
      await untilEvent(pod, 'Unhealthy', /^Readiness probe failed: HTTP probe failed with statuscode: 404$/);
      assert.match(
        await explain('http'),
        /readiness probe has not succeeded: HTTP probe failed with statuscode: 404/,
      );
    });

    test('by a command that does not exist is never ready, and says that it could not be asked', async () => {
      const exec = { command: ['/no/such/program'] };
      const probe = { ...often, exec, failureThreshold: 1 };
      const pod = await run('absent', sleeper('main', { readinessProbe: probe, livenessProbe: probe }));
      await untilEvent(
        pod,
        'Unhealthy',
        /^Readiness probe errored and resulted in unknown state: .*no such file/s,
      );
      await untilEvent(pod, 'Unhealthy', /^Liveness probe errored and resulted in unknown state: /);
      assert.match(await explain('absent'), /the readiness probe cannot be run/);
      const [last] = lab.pods.history(uidOf(pod)).slice(-1);
      assert.equal(containerOf(last?.pod ?? {})?.restartCount, 0);
      assert.ok(!wasReady(pod));
    });

    test('by gRPC is ready while its service serves, and says what it answers when it does not', async () => {
      await using folder = await temporaryFolder('grpc-');
      const grpc = { port: 5001, service: 'web' };
      const readinessProbe = { ...often, grpc, failureThreshold: 1 };
      const startupProbe = { ...often, grpc, failureThreshold: 600 };
      const spec = await grpcHealthServer(folder.path, grpc.port, { readinessProbe, startupProbe });
      const pod = await ready(await lab.run('health', spec));
      assert.deepEqual([containerOf(pod)?.started, containerOf(pod)?.restartCount], [true, 0]);
      await inside('health', ['touch', '/tmp/sick']);
      await until('it to be unready', pod, (state) => !isTrue(state, 'Ready'));
      await untilEvent(
        pod,
        'Unhealthy',
        /^Readiness probe failed: service unhealthy \(responded with "NOT_SERVING"\)$/,
      );
      await inside('health', ['rm', '/tmp/sick']);
      await ready(pod);
      await lab.delete('health', 1);
      await lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone);
    });

    test('by gRPC is not ready while nothing listens', async () => {
      const pod = await run(
        'grpc',
        sleeper('main', { readinessProbe: { ...often, timeoutSeconds: 1, grpc: { port: 5000 } } }),
      );
      await untilEvent(
        pod,
        'Unhealthy',
        /^Readiness probe failed: timeout: failed to connect service "[\d.]+:5000" within 1s/,
      );
      assert.ok(!wasReady(pod));
    });

    test('in the network of the node is asked at the address of the node', async () => {
      const tcpSocket = { port: 8099 };
      const containers = [webServer(8099, 'host', { readinessProbe: { ...often, tcpSocket } })];
      await ready(await lab.run('host', { hostNetwork: true, containers }));
    });

    test('that ends is probed until it has ended', async () => {
      const preStop = { ...command('rm /tmp/ready; sleep 600') };
      const main = script('main', `touch /tmp/ready; trap 'exit 0' TERM; while :; do sleep 1; done`, {
        readinessProbe: { ...often, ...command('test -e /tmp/ready'), failureThreshold: 1 },
        lifecycle: { preStop },
      });
      const pod = await ready(
        await lab.run('ends', { containers: [main], terminationGracePeriodSeconds: 30 }),
      );
      await lab.delete('ends');
      await until('it to be unready while it runs', pod, (state) => {
        const isRunning = containerOf(state)?.state?.running !== undefined;
        return state.metadata?.deletionTimestamp !== undefined && isRunning && !isTrue(state, 'Ready');
      });
      await lab.delete('ends', 1);
    });
  });

  describe('a container with a liveness probe', { concurrency: true }, () => {
    test('by a command is restarted when that fails', async () => {
      const main = script(
        'main',
        `touch /tmp/alive; sleep 3; rm /tmp/alive; trap 'exit 0' TERM; sleep 600 & wait $!`,
        {
          livenessProbe: {
            ...often,
            ...command('test -e /tmp/alive'),
            failureThreshold: 2,
            initialDelaySeconds: 1,
          },
        },
      );
      const pod = await run('alive', main);
      await until('its restart', pod, (state) => (containerOf(state)?.restartCount ?? 0) >= 1);
      await untilEvent(pod, 'Unhealthy', /^Liveness probe failed: /);
      await assertKilled(pod, 'Container main failed liveness probe, will be restarted');
    });

    test('that takes too long is killed with the grace of its probe', async () => {
      const livenessProbe = {
        ...{ ...often, ...command('sleep 60'), timeoutSeconds: 1, failureThreshold: 1 },
        terminationGracePeriodSeconds: 1,
      };
      const main = script('main', `trap '' TERM; while :; do sleep 1; done`, { livenessProbe });
      const spec = { containers: [main], restartPolicy: 'Never', terminationGracePeriodSeconds: 600 };
      const pod = await lab.run('slow', spec);
      const failed = await until('its end', pod, ({ status }) => status?.phase === 'Failed');
      assert.equal(containerOf(failed)?.state?.terminated?.exitCode, 137);
      await untilEvent(
        pod,
        'Unhealthy',
        /^Liveness probe failed: command timed out: "\/bin\/sh -c sleep 60" timed out after 1s$/,
      );
      await assertKilled(pod, 'Container main failed liveness probe');
    });
  });

  describe('a container with a startup probe', { concurrency: true }, () => {
    test('by a connection is neither ready nor asked whether it lives before it has started', async () => {
      const listens = `trap 'exit 0' TERM; until [ -e /tmp/go ]; do sleep 0.2; done; httpd -f -p 9000 -h /tmp & wait $!`;
      const main = script('main', listens, {
        startupProbe: { ...often, tcpSocket: { port: 9000 }, failureThreshold: 600 },
        readinessProbe: { ...often, tcpSocket: { port: 9000 } },
        livenessProbe: { ...often, tcpSocket: { port: 9000 }, failureThreshold: 1 },
      });
      const pod = await run('starts', main);
      await until('it to run unstarted', pod, (state) => {
        const { state: { running } = {}, started } = containerOf(state) ?? {};
        return running !== undefined && started === false;
      });
      await untilEvent(
        pod,
        'Unhealthy',
        /^Startup probe failed: dial tcp [\d.]+:9000: connect: connection refused$/,
      );
      await inside('starts', ['touch', '/tmp/go']);
      const last = await ready(pod);
      assert.deepEqual([containerOf(last)?.started, containerOf(last)?.restartCount], [true, 0]);
      const early = lab.pods.history(uidOf(pod)).filter((state) => containerOf(state.pod)?.started === false);
      assert.ok(early.every((state) => containerOf(state.pod)?.ready === false));
    });

    test('that never succeeds ends it', async () => {
      const startupProbe = { ...often, ...command('exit 1'), failureThreshold: 2 };
      const pod = await lab.run('never', {
        containers: [sleeper('main', { startupProbe })],
        restartPolicy: 'Never',
      });
      await until(
        'its end',
        pod,
        ({ status }) => status?.phase === 'Succeeded' || status?.phase === 'Failed',
      );
      await assertKilled(pod, 'Container main failed startup probe');
    });

    test('that is a sidecar lets the next container start when it has started, and counts for the pod', async () => {
      const sidecar = sleeper('side', {
        restartPolicy: 'Always',
        startupProbe: { ...often, ...command('test -e /tmp/started'), failureThreshold: 600 },
        readinessProbe: { ...often, ...command('test -e /tmp/ready') },
      });
      const pod = await lab.run('sidecar', { initContainers: [sidecar], containers: [sleeper()] });
      const started = (state: Pod) => containerOf(state, 'side')?.started;
      await until(
        'the sidecar to run',
        pod,
        (state) => containerOf(state, 'side')?.state?.running !== undefined,
      );
      await inside('sidecar', ['touch', '/tmp/started'], 'side');
      const running = await until(
        'the second to run',
        pod,
        (state) => containerOf(state)?.state?.running !== undefined,
      );
      assert.equal(started(running), true);
      assert.ok(lab.pods.history(uidOf(pod)).some((state) => started(state.pod) === false));
      assert.ok(!isTrue(running, 'Ready'));
      await inside('sidecar', ['touch', '/tmp/ready'], 'side');
      await ready(pod);
    });
  });
});

describe('an agent that starts again', () => {
  test('leaves the ready ready, the unready unready, and counts probes at /metrics/probes', async () => {
    const probeOf = (text: string) => ({ ...often, ...command(text) });
    const [good, bad] = [
      await ready(
        await run(
          'good',
          sleeper('main', { readinessProbe: probeOf('exit 0'), startupProbe: probeOf('exit 0') }),
        ),
      ),
      await run('bad', sleeper('main', { readinessProbe: probeOf('exit 1') })),
    ];
    await untilEvent(bad, 'Unhealthy', /^Readiness probe failed: $/);
    const before = lab.pods.history(uidOf(good)).length;
    await lab.restartAgent('kill9');
    const metrics = async () =>
      (await lab.kubectl.run(['get', '--raw', '/api/v1/nodes/lab/proxy/metrics/probes'])).stdout;
    for (const name of ['good', 'bad'])
      await waitFor(`${name} to be probed again`, async () =>
        new RegExp(`^prober_probe_total\\{.*pod="${name}",.*probe_type="Readiness".*\\} [1-9]`, 'm').test(
          await metrics(),
        ),
      );
    assert.ok(
      lab.pods
        .history(uidOf(good))
        .slice(before)
        .every((state) => isTrue(state.pod, 'Ready')),
    );
    assert.ok(!wasReady(bad));
  });
});

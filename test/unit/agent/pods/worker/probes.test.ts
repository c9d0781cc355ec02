/** What follows from probes for a pod, with everything but the runtime real: its plan, its status, its record on the disk. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../../../src/api/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { NodeWorld } from './node-world.ts';

const uid = 'uid-probed';
/** Less than the period of a probe: nothing else wakes the pod so soon. */
const atOnceMs = 5000;
type Spec = NonNullable<Pod['spec']>;

const probeOf = (what: string) => ({ exec: { command: [what] } });

function podWith(spec: Partial<Spec>): Pod {
  const containers = [{ name: 'main', image: 'app:1' }];
  return {
    metadata: { name: 'probed', namespace: 'default', uid },
    spec: { containers, restartPolicy: 'Always', terminationGracePeriodSeconds: 5, ...spec },
  };
}

const mainWith = (probes: Partial<Spec['containers'][number]>) =>
  podWith({ containers: [{ name: 'main', image: 'app:1', ...probes }] });

/** A node with one pod, of which a probe succeeds when its command is among `well`. */
class ProbedNode implements AsyncDisposable {
  readonly well = new Set<string>();
  /** When a probe was answered last, by the world's clock. */
  answeredMs = 0;
  readonly world: NodeWorld;

  constructor(folder: string, pod: Pod) {
    this.world = new NodeWorld(folder, {
      answersProbe: (command) => {
        this.answeredMs = this.world.clock.monotonicMs();
        return this.well.has(command);
      },
    });
    this.world.want(pod);
    this.world.start();
  }

  statusOf(name = 'main') {
    const { containerStatuses = [], initContainerStatuses = [] } = this.world.statuses.get(uid) ?? {};
    return [...containerStatuses, ...initContainerStatuses].find((each) => each.name === name);
  }

  isReady(): boolean {
    const { conditions = [] } = this.world.statuses.get(uid) ?? {};
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  }

  async untilReady(isReady = true): Promise<void> {
    await this.world.until(`it to be ${isReady ? 'ready' : 'unready'}`, () => this.isReady() === isReady);
  }

  async untilRunning(name = 'main'): Promise<void> {
    await this.world.until('it to run', () => this.statusOf(name)?.state?.running !== undefined);
  }

  /** Returns whether it was said to be ready after a kill and a restart of the agent, each time. */
  async restartAgent(): Promise<boolean[]> {
    const before = this.world.told.get(uid)?.length ?? 0;
    await this.world.kill();
    this.world.start();
    await this.world.until('it to be told of', () => (this.world.told.get(uid)?.length ?? 0) > before);
    await this.world.pass(100);
    const told = (this.world.told.get(uid) ?? []).slice(before);
    return told.map(({ conditions }) => conditions?.find(({ type }) => type === 'Ready')?.status === 'True');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world.stop();
  }
}

describe('a pod with probes', () => {
  test('is ready, and unready, as soon as its probe says so', async () => {
    await using folder = await temporaryFolder('pods-');
    await using node = new ProbedNode(folder.path, mainWith({ readinessProbe: probeOf('ready') }));
    await node.untilRunning();
    assert.equal(node.isReady(), false);
    node.well.add('ready');
    await node.untilReady();
    assert.ok(node.world.clock.monotonicMs() - node.answeredMs < atOnceMs);
    node.well.clear();
    await node.untilReady(false);
    assert.ok(node.world.clock.monotonicMs() - node.answeredMs < atOnceMs);
    assert.equal(node.statusOf()?.restartCount, 0);
  });

  test('has its container restarted when it does not live, and says why', async () => {
    await using folder = await temporaryFolder('pods-');
    await using node = new ProbedNode(folder.path, mainWith({ livenessProbe: probeOf('alive') }));
    await node.world.until('its restart', () => (node.statusOf()?.restartCount ?? 0) > 0);
    const events = node.world.eventsOf('probed');
    assert.match(events, /Killing: Container main failed liveness probe, will be restarted/);
    assert.equal(events.match(/Unhealthy: Liveness probe failed: /g)?.length, 3);
  });

  test('starts what follows a sidecar when that has started, and is ready when that is', async () => {
    await using folder = await temporaryFolder('pods-');
    const probes = {
      startupProbe: { ...probeOf('started'), failureThreshold: 100 },
      readinessProbe: probeOf('ready'),
    };
    const side = { name: 'side', image: 'app:1', restartPolicy: 'Always', ...probes };
    await using node = new ProbedNode(folder.path, podWith({ initContainers: [side] }));
    await node.untilRunning('side');
    await node.world.pass(60_000);
    assert.equal(node.statusOf()?.state?.running, undefined);
    node.well.add('started');
    await node.untilRunning();
    assert.equal(node.isReady(), false);
    // it has started for good, also for the next agent
    node.well.clear();
    await node.restartAgent();
    assert.equal(node.statusOf('side')?.started, true);
    node.well.add('ready');
    await node.untilReady();
    assert.deepEqual([node.statusOf('side')?.restartCount, node.statusOf()?.restartCount], [0, 0]);
  });
});

describe('an agent that was killed and starts again', () => {
  test('says of no ready pod that it is not, also where no API knows of it', async () => {
    await using folder = await temporaryFolder('pods-');
    const probes = { readinessProbe: probeOf('ready'), startupProbe: probeOf('ready') };
    await using node = new ProbedNode(folder.path, mainWith(probes));
    node.well.add('ready');
    await node.untilReady();
    const told = await node.restartAgent();
    assert.ok(told.length > 0 && told.every((each) => each), JSON.stringify(told));
  });

  test('says of no unready pod that it is ready', async () => {
    await using folder = await temporaryFolder('pods-');
    await using node = new ProbedNode(folder.path, mainWith({ readinessProbe: probeOf('ready') }));
    node.well.add('ready');
    await node.untilReady();
    node.well.clear();
    await node.untilReady(false);
    const told = await node.restartAgent();
    assert.ok(told.length > 0 && told.every((each) => !each), JSON.stringify(told));
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NodeSettings, NodeStatusOptions, Pressures } from '../../../../src/agent/node/index.ts';
import { createNodeStatusService } from '../../../../src/agent/node/index.ts';
import type { NodeCondition } from '../../../../src/api/index.ts';
import { nodeKind, StatusError } from '../../../../src/api/index.ts';
import { createMetrics } from '../../../../src/base/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { createFakeApi, UnreachableError } from './fake-api.ts';
import {
  createFakeRuntime,
  facts,
  healthy,
  nodeSettings,
  noPressure,
  recordingLog,
  runtimeAbsent,
  runtimeReady,
  runtimeWithoutNetwork,
} from './samples.ts';

const name = 'node-a';

/** A node-status service that runs against a server in memory until it is disposed of. */
async function start(
  change: Partial<NodeStatusOptions> = {},
  prepare: (api: ReturnType<typeof createFakeApi>) => void = () => undefined,
) {
  const clock = createManualClock();
  const api = createFakeApi(clock);
  const runtime = createFakeRuntime(runtimeReady);
  const { log, lines } = recordingLog();
  prepare(api);
  const service = createNodeStatusService({
    nodeName: name,
    hostname: name,
    api,
    runtime,
    clock,
    log,
    port: () => 10_250,
    random: () => 0.5,
    facts: async () => facts,
    measure: async () => healthy,
    settings: () => nodeSettings,
    pressures: () => noPressure,
    addresses: () => [
      { type: 'InternalIP', address: '192.0.2.10' },
      { type: 'Hostname', address: name },
    ],
    ...change,
  });
  const stop = new AbortController();
  let ready = false;
  const running = service.run(stop.signal, () => {
    ready = true;
  });
  await clock.advance(0);
  return {
    clock,
    api,
    runtime,
    lines,
    service,
    isReady: () => ready,
    node: () => api.read(nodeKind, name),
    condition: (type: string): NodeCondition => {
      const found = api.read(nodeKind, name).status?.conditions?.find((entry) => entry.type === type);
      assert.ok(found, `the node has a condition ${type}`);
      return found;
    },
    statusWrites: () => api.calls.filter((call) => call.subresource === 'status').length,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      assert.equal(runtime.listeners, 0, 'nobody listens to the runtime any more');
      assert.equal(clock.sleepers, 0, 'nobody sleeps any more');
    },
  };
}

const unreachable = () => {
  throw new UnreachableError('connect ECONNREFUSED 127.0.0.1:6443');
};

describe('settings that change', () => {
  test('are looked at at once and count from then on', async () => {
    let settings: NodeSettings = { ...nodeSettings, maxPods: 10, updateFrequencyMs: 3600_000 };
    const listeners = new Set<() => void>();
    await using agent = await start({
      settings: () => settings,
      onSettings(listener) {
        listeners.add(listener);
        return { [Symbol.dispose]: () => void listeners.delete(listener) };
      },
    });
    assert.equal(agent.node().status?.capacity?.['pods'], '10');
    await agent.clock.advance(1000);
    settings = { ...nodeSettings, maxPods: 20, updateFrequencyMs: 5000 };
    for (const listener of listeners) listener();
    await agent.clock.advance(1000);
    assert.equal(agent.node().status?.capacity?.['pods'], '20');
    settings = { ...settings, maxPods: 30 };
    await agent.clock.advance(5000);
    assert.equal(agent.node().status?.capacity?.['pods'], '30', 'the new period counts');
  });
});

describe('registration', () => {
  test('makes a Node that is ready at once', async () => {
    await using agent = await start();
    const { metadata, status } = agent.node();
    assert.deepEqual(metadata?.labels, {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
    });
    assert.equal(agent.condition('Ready').status, 'True');
    assert.equal(agent.condition('Ready').reason, 'KubeletReady');
    assert.equal(status?.nodeInfo?.containerRuntimeVersion, 'containerd://2.1.9');
    assert.equal(status?.daemonEndpoints?.kubeletEndpoint?.Port, 10_250);
    assert.deepEqual(
      agent.api.calls.map((call) => call.verb),
      ['get', 'create'],
    );
    assert.equal(agent.service.nodeUid(), metadata?.uid);
    assert.ok(agent.isReady());
  });

  test('gives a Node that it makes the labels, taints and providerID that are configured', async () => {
    const registration = {
      register: true,
      labels: { zone: 'a', 'kubernetes.io/os': 'other' },
      taints: [{ key: 'fresh', effect: 'NoExecute' }],
      providerID: 'lab://1',
    };
    await using agent = await start({ settings: () => ({ ...nodeSettings, registration }) });
    const { metadata, spec } = agent.node();
    assert.equal(metadata?.labels?.['zone'], 'a');
    assert.equal(metadata?.labels?.['kubernetes.io/os'], 'linux', 'its own labels win');
    assert.deepEqual(spec?.taints, [{ key: 'fresh', effect: 'NoExecute' }]);
    assert.equal(spec?.providerID, 'lab://1');
  });

  test('with registerNode false waits for a Node that others make, and then keeps its status', async () => {
    const registration = { register: false, labels: {}, taints: [], providerID: '' };
    await using agent = await start({ settings: () => ({ ...nodeSettings, registration }) });
    assert.deepEqual(
      agent.api.calls.map((call) => call.verb),
      ['get'],
    );
    await agent.clock.advance(5000);
    assert.match(agent.lines.join('\n'), /there is no Node node-a, and registerNode is false/);
    await agent.api.create(nodeKind, { metadata: { name }, spec: {} });
    await agent.clock.advance(15_000);
    assert.equal(agent.condition('Ready').status, 'True');
  });

  test('sends the status by itself where the server drops it on create', async () => {
    await using agent = await start({}, (api) => {
      api.keepsStatusOnCreate = false;
    });
    assert.equal(agent.condition('Ready').status, 'True');
    assert.equal(agent.statusWrites(), 1);
  });

  test('adopts an existing Node and keeps what others wrote', async () => {
    await using agent = await start({}, (api) => {
      void api.create(nodeKind, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: {
          name,
          labels: { 'example.com/rack': 'r7', 'kubernetes.io/arch': 'arm64' },
          annotations: { 'example.com/owner': 'ops' },
        },
        spec: {
          unschedulable: true,
          podCIDR: '10.1.0.0/24',
          taints: [{ key: 'example.com/gpu', effect: 'NoSchedule' }],
        },
        status: {
          capacity: { 'example.com/dongle': '4', cpu: '64' },
          conditions: [
            { type: 'KernelDeadlock', status: 'False' },
            { type: 'NetworkUnavailable', status: 'False', reason: 'CalicoIsUp' },
            {
              type: 'Ready',
              status: 'True',
              reason: 'KubeletReady',
              lastTransitionTime: '2024-05-01T00:00:00Z',
            },
          ],
          addresses: [
            { type: 'ExternalIP', address: '203.0.113.5' },
            { type: 'InternalIP', address: '198.51.100.9' },
          ],
          volumesInUse: ['v1'],
        },
      });
    });
    const { metadata, spec, status } = agent.node();
    assert.equal(metadata?.labels?.['example.com/rack'], 'r7');
    assert.equal(metadata?.labels?.['kubernetes.io/arch'], 'amd64');
    assert.equal(metadata?.annotations?.['example.com/owner'], 'ops');
    assert.deepEqual(spec, {
      unschedulable: true,
      podCIDR: '10.1.0.0/24',
      taints: [{ key: 'example.com/gpu', effect: 'NoSchedule' }],
    });
    assert.equal(status?.capacity?.['example.com/dongle'], '4');
    assert.equal(status?.allocatable?.['example.com/dongle'], '4');
    assert.equal(status?.capacity?.['cpu'], '2');
    assert.equal(agent.condition('KernelDeadlock').status, 'False');
    assert.equal(agent.condition('NetworkUnavailable').reason, 'CalicoIsUp');
    assert.equal(agent.condition('Ready').lastTransitionTime, '2024-05-01T00:00:00Z');
    assert.deepEqual(status?.addresses, [
      { type: 'InternalIP', address: '192.0.2.10' },
      { type: 'Hostname', address: name },
      { type: 'ExternalIP', address: '203.0.113.5' },
    ]);
    assert.deepEqual(status?.volumesInUse, ['v1']);
  });

  test('is done within five seconds of a control plane that comes up three seconds late', async () => {
    await using agent = await start({}, (api) => {
      api.before = ({ atMs }) => {
        if (atMs < 4000) unreachable();
      };
    });
    await agent.clock.advanceUntil(() => agent.api.has(nodeKind, name), 4000);
    assert.equal(agent.condition('Ready').status, 'True');
  });

  test('loses nothing when another creates the Node at the same time', async () => {
    await using agent = await start({}, (api) => {
      api.before = (call) => {
        if (call.verb !== 'create') return;
        api.before = () => undefined;
        void api.create(nodeKind, { metadata: { name, annotations: { mine: 'yes' } } });
      };
    });
    assert.equal(agent.node().metadata?.annotations?.['mine'], 'yes');
    assert.equal(agent.condition('Ready').status, 'True');
  });
});

describe('reporting', () => {
  test('looks every ten seconds and sends nothing new for five minutes', async () => {
    await using agent = await start();
    await agent.clock.advance(299_000);
    const looks = agent.api.calls.filter((call) => call.verb === 'get').length;
    assert.equal(looks, 30);
    assert.equal(agent.statusWrites(), 0);
    const before = agent.condition('Ready');
    await agent.clock.advance(11_000);
    assert.equal(agent.statusWrites(), 1);
    const after = agent.condition('Ready');
    assert.notEqual(after.lastHeartbeatTime, before.lastHeartbeatTime);
    assert.equal(after.lastTransitionTime, before.lastTransitionTime);
  });

  test('tells a change of the runtime within a second, and both transitions have their time', async () => {
    await using agent = await start();
    const first = agent.condition('Ready').lastTransitionTime;
    await agent.clock.advance(3000);
    agent.runtime.set(runtimeWithoutNetwork);
    await agent.clock.advance(1000);
    const ready = agent.condition('Ready');
    assert.equal(ready.status, 'False');
    assert.match(
      ready.message ?? '',
      /container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized; install/,
    );
    assert.notEqual(ready.lastTransitionTime, first);
    assert.equal(agent.condition('NetworkUnavailable').status, 'True');
    agent.runtime.set(runtimeReady);
    await agent.clock.advance(1000);
    assert.equal(agent.condition('Ready').status, 'True');
    assert.equal(agent.condition('NetworkUnavailable').status, 'False');
  });

  test('a runtime that changes a hundred times a second causes at most two reports a second', async () => {
    await using agent = await start();
    const before = agent.api.calls.length;
    for (let turn = 0; turn < 200; turn += 1) {
      agent.runtime.set(turn % 2 ? runtimeReady : runtimeAbsent);
      await agent.clock.advance(10);
    }
    assert.ok(agent.api.calls.length - before <= 2 * 5, `${agent.api.calls.length - before} requests in 2 s`);
  });

  test('a change while a request is under way is reported after it', async () => {
    await using agent = await start();
    agent.api.before = () => agent.clock.sleep(2000);
    await agent.clock.advance(10_500);
    agent.runtime.set(runtimeAbsent);
    await agent.clock.advance(8000);
    assert.equal(agent.condition('Ready').status, 'False');
    assert.equal(agent.condition('NetworkUnavailable').status, 'Unknown');
  });

  test('a message that changes while the status stays moves no transition time', async () => {
    await using agent = await start();
    agent.runtime.set(runtimeAbsent);
    await agent.clock.advance(1000);
    const before = agent.condition('Ready');
    agent.runtime.set({ ...runtimeAbsent, reason: 'RuntimeTimeout', message: 'no answer' });
    await agent.clock.advance(1000);
    const after = agent.condition('Ready');
    assert.notEqual(after.message, before.message);
    assert.equal(after.lastTransitionTime, before.lastTransitionTime);
  });

  test('puts right what the node controller wrote while the node was silent', async () => {
    await using agent = await start();
    agent.api.edit(nodeKind, name, (node) => ({
      ...node,
      status: {
        ...node.status,
        conditions: (node.status?.conditions ?? []).map((entry) => ({
          ...entry,
          status: 'Unknown',
          reason: 'NodeStatusUnknown',
          lastTransitionTime: '2025-01-01T00:00:05Z',
        })),
      },
    }));
    await agent.clock.advance(11_000);
    assert.equal(agent.condition('Ready').status, 'True');
    assert.equal(agent.condition('NetworkUnavailable').status, 'False');
    assert.equal(agent.condition('Ready').lastTransitionTime, '2025-01-01T00:00:10Z');
  });

  test('what others write in between stays, and costs no further request', async () => {
    await using agent = await start();
    const theirs = { type: 'CNIReady', status: 'True', reason: 'Theirs' };
    agent.api.before = (call) => {
      if (call.verb !== 'patch') return;
      agent.api.before = () => undefined;
      agent.api.edit(nodeKind, name, (node) => ({
        ...node,
        metadata: { ...node.metadata, annotations: { theirs: 'yes' }, labels: { theirs: 'yes' } },
        spec: { taints: [{ key: 'theirs', effect: 'NoSchedule' }] },
        status: { ...node.status, conditions: [...(node.status?.conditions ?? []), theirs] },
      }));
    };
    agent.runtime.set(runtimeAbsent);
    const before = agent.api.calls.length;
    await agent.clock.advance(1000);
    assert.equal(agent.condition('Ready').status, 'False');
    assert.equal(agent.condition('CNIReady').reason, 'Theirs');
    assert.equal(agent.node().metadata?.annotations?.['theirs'], 'yes');
    assert.equal(agent.node().spec?.taints?.[0]?.key, 'theirs');
    const verbs = agent.api.calls.slice(before).map(({ verb }) => verb);
    assert.deepEqual(verbs, ['get', 'patch']);
  });

  test('a Node that became another in between is looked at again', async () => {
    await using agent = await start();
    let turns = 0;
    agent.api.before = async (call) => {
      if (call.verb !== 'patch' || turns === 3) return;
      turns += 1;
      agent.api.remove(nodeKind, name);
      await agent.api.create(nodeKind, { metadata: { name, annotations: { turn: String(turns) } } });
    };
    agent.runtime.set(runtimeAbsent);
    await agent.clock.advance(1000);
    assert.equal(agent.condition('Ready').status, 'False');
    assert.equal(agent.node().metadata?.annotations?.['turn'], '3');
    assert.equal(agent.service.nodeUid(), agent.node().metadata?.uid);
    assert.deepEqual(
      agent.lines.filter((line) => line.includes('cannot')),
      [],
    );
  });

  test('endless races end the round, not the service', async () => {
    await using agent = await start();
    agent.api.before = async (call) => {
      if (call.verb !== 'patch') return;
      agent.api.remove(nodeKind, name);
      await agent.api.create(nodeKind, { metadata: { name } });
    };
    agent.runtime.set(runtimeAbsent);
    await agent.clock.advance(20_000);
    agent.api.before = () => undefined;
    await agent.clock.advance(12_000);
    assert.equal(agent.condition('Ready').status, 'False');
  });

  test('only what has changed is sent', async () => {
    await using agent = await start();
    agent.runtime.set(runtimeAbsent);
    await agent.clock.advance(1000);
    const { status } = Object(agent.api.calls.at(-1)?.object);
    assert.deepEqual(Object.keys(status), ['conditions']);
    assert.ok(!('spec' in Object(agent.api.calls.at(-1)?.object)));
  });

  test('images, handlers, features and swap as they are known; none of them when asked for none', async () => {
    let maxImages = 1;
    const swapBytes = 2 ** 30;
    await using agent = await start({
      settings: () => ({ ...nodeSettings, maxImages }),
      measure: async () => ({ ...healthy, swapBytes }),
    });
    assert.equal(agent.node().status?.images, undefined);
    const handlers = [{ name: '', recursiveReadOnlyMounts: true, userNamespaces: false }];
    agent.runtime.set({ ...runtimeReady, handlers, supplementalGroupsPolicy: true });
    const names = ['a@sha256:1', 'a:1', 'a:2', 'a:3', 'a:4', 'a:5'];
    const images = [
      { names, sizeBytes: 300 },
      { names: ['b'], sizeBytes: 200 },
    ];
    agent.runtime.setImages({ images, imageDir: undefined, containerDir: undefined });
    await agent.clock.advance(1000);
    const { status } = agent.node();
    assert.deepEqual(status?.images, [{ names: names.slice(0, 5), sizeBytes: 300 }]);
    assert.equal(status?.runtimeHandlers?.[0]?.features?.recursiveReadOnlyMounts, true);
    assert.deepEqual(status?.features, { supplementalGroupsPolicy: true });
    assert.deepEqual(status?.nodeInfo?.swap, { capacity: swapBytes });
    maxImages = -1;
    await agent.clock.advance(11_000);
    assert.equal(agent.node().status?.images?.length, 2);
    maxImages = 0;
    await agent.clock.advance(11_000);
    assert.equal(agent.node().status?.images?.length ?? 0, 0);
  });

  test('a pressure that begins is told at once', async () => {
    let pressures: Pressures = noPressure;
    let tell = () => undefined;
    await using agent = await start({
      pressures: () => pressures,
      onPressures(listener) {
        tell = () => void listener();
        return { [Symbol.dispose]: () => undefined };
      },
    });
    assert.equal(agent.condition('MemoryPressure').status, 'False');
    pressures = { ...noPressure, memory: true };
    tell();
    await agent.clock.advance(1000);
    assert.equal(agent.condition('MemoryPressure').status, 'True');
  });

  test('what the agent has noticed of itself is told, and then told no more', async () => {
    let remarks = ['heartbeat late by 12.0 s because of you'];
    await using agent = await start({ remarks: () => remarks });
    assert.match(agent.condition('Ready').message ?? '', /; heartbeat late by 12\.0 s because of you$/);
    remarks = [];
    await agent.clock.advance(11_000);
    assert.equal(agent.condition('Ready').message, 'kubelet is posting ready status');
  });

  test('why it is not Ready for the agent itself is reported at once', async () => {
    let problems: readonly string[] = [];
    let tell: () => void = () => undefined;
    await using agent = await start({
      problems: () => problems,
      onProblems(listener) {
        tell = listener;
        return { [Symbol.dispose]: () => undefined };
      },
    });
    for (const [next, status] of [
      [['node is shutting down'], 'False'],
      [[], 'True'],
    ] as const) {
      problems = next;
      tell();
      await agent.clock.advance(1000);
      assert.equal(agent.condition('Ready').status, status);
    }
  });

  test('a deleted Node is made anew', async () => {
    await using agent = await start();
    const first = agent.service.nodeUid();
    agent.api.remove(nodeKind, name);
    await agent.clock.advance(11_000);
    assert.equal(agent.condition('Ready').status, 'True');
    assert.notEqual(agent.service.nodeUid(), first);
    assert.equal(agent.service.nodeUid(), agent.node().metadata?.uid);
  });
});

describe('the log', () => {
  test('says the start of a healthy node in two lines', async () => {
    await using agent = await start();
    agent.runtime.set({ ...runtimeAbsent, reason: 'RuntimeStarting' });
    await agent.clock.advance(60_000);
    assert.deepEqual(agent.lines, ['info: Node created', 'info: the node is Ready']);
    agent.runtime.set(runtimeReady);
    await agent.clock.advance(60_000);
    agent.runtime.set(runtimeAbsent);
    await agent.clock.advance(60_000);
    assert.equal(agent.lines.length, 4);
    assert.match(agent.lines[3] ?? '', /^warn: the node is not Ready: container runtime is down/);
  });
});

describe('trouble', () => {
  test('an outage is logged once, its end once, and the truth is told after it', async () => {
    await using agent = await start();
    agent.api.before = unreachable;
    await agent.clock.advance(15_000);
    agent.runtime.set(runtimeAbsent);
    await agent.clock.advance(600_000);
    const tries = agent.api.calls.length;
    assert.ok(tries < 100, `${tries} tries in ten minutes`);
    agent.api.before = () => undefined;
    await agent.clock.advance(11_000);
    assert.equal(agent.condition('Ready').status, 'False');
    const told = agent.lines.filter((line) => /update the node/.test(line));
    assert.equal(told.length, 2, told.join('\n'));
    assert.match(told[0] ?? '', /^warn: cannot update the node’s status.*ECONNREFUSED/);
    assert.match(told[1] ?? '', /^info: can update the node’s status again/);
  });

  test('a server that never answers holds nothing up for more than ten seconds', async () => {
    await using agent = await start();
    agent.api.before = () => new Promise(() => undefined);
    await agent.clock.advance(25_000);
    agent.api.before = () => undefined;
    agent.runtime.set(runtimeAbsent);
    await agent.clock.advance(20_000);
    assert.equal(agent.condition('Ready').status, 'False');
    assert.ok(agent.lines.some((line) => line.includes('did not answer within 10 s')));
  });

  test('no server is blamed while there are no credentials', async () => {
    await using agent = await start({}, (api) => {
      Object.assign(api, { missingCredentials: () => 'the request csr-1 waits for approval' });
      api.before = () => new Promise(() => undefined);
    });
    await agent.clock.advance(11_000);
    const told = agent.lines.filter((line) => /update the node/.test(line));
    assert.match(
      told[0] ?? '',
      /this node has no client certificate yet: the request csr-1 waits for approval/,
    );
  });

  test('refused credentials are said with what to do, and tried on', async () => {
    await using agent = await start({}, (api) => {
      api.before = () => {
        throw new StatusError('Forbidden', 'nodes "node-a" is forbidden: User "alice" cannot get it');
      };
    });
    await agent.clock.advance(10_000);
    assert.equal(agent.lines.filter((line) => line.includes('system:nodes')).length, 1);
    agent.api.before = () => undefined;
    await agent.clock.advance(10_000);
    assert.ok(agent.api.has(nodeKind, name));
  });

  test('a server that asks to be left alone is', async () => {
    await using agent = await start();
    agent.api.before = () => {
      throw new StatusError('TooManyRequests', 'too many', { details: { retryAfterSeconds: 5 } });
    };
    await agent.clock.advance(10_000);
    const before = agent.api.calls.length;
    await agent.clock.advance(4900);
    assert.equal(agent.api.calls.length, before);
  });

  test('a hung request does not delay the stop', async () => {
    const agent = await start();
    const before = agent.api.calls.length;
    agent.api.before = () => new Promise(() => undefined);
    await agent.clock.advance(10_500);
    assert.equal(agent.api.calls.length, before + 1, 'one request hangs');
    const stoppedAtMs = agent.clock.monotonicMs();
    await agent[Symbol.asyncDispose](); // which resolves only when the service has ended
    assert.equal(agent.clock.monotonicMs(), stoppedAtMs, 'without any time passing');
    assert.equal(agent.api.calls.length, before + 1, 'nothing was asked any more');
  });

  test('the wall clock may be set without harm to the schedule', async () => {
    await using agent = await start();
    agent.clock.setWall(-3_600_000);
    const before = agent.api.calls.length;
    await agent.clock.advance(30_000);
    assert.equal(agent.api.calls.length - before, 3);
  });

  test('rounds are counted', async () => {
    const metrics = createMetrics();
    await using agent = await start({ metrics });
    agent.api.before = unreachable;
    await agent.clock.advance(10_100);
    const text = await metrics.getSingleMetricAsString('nodeward_node_status_rounds_total');
    assert.match(text, /outcome="sent"\} 1\n/);
    assert.match(text, /outcome="failed"\} 1/);
  });

  test('a node that is not ready is in the metrics, also while the control plane is away', async () => {
    const metrics = createMetrics();
    await using agent = await start({ metrics });
    const ready = async () => {
      const text = await metrics.getSingleMetricAsString('nodeward_node_condition');
      return /condition="Ready"\} (-?\d)/.exec(text)?.[1];
    };
    assert.equal(await ready(), '1');
    agent.api.before = unreachable;
    agent.runtime.set(runtimeAbsent);
    await agent.clock.advance(10_100);
    assert.equal(await ready(), '0');
  });
});

/** The registration of CSI drivers, which are asked over real gRPC. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { NodeGetInfoResponseSchema } from '../../../../../src/agent/plugins/csi/gen/csi_pb.js';
import { Node } from '../../../../../src/agent/plugins/csi/gen/csi_pb.js';
import type { CsiDriver, CsiPublisher, Publication } from '../../../../../src/agent/plugins/csi/index.ts';
import { CsiHandler } from '../../../../../src/agent/plugins/csi/index.ts';
import type { PluginInfo } from '../../../../../src/agent/plugins/index.ts';
import { GrpcError, grpcCodes, implement, serveUnix } from '../../../../../src/base/grpc/index.ts';
import { createMetrics, silentLogger, systemClock } from '../../../../../src/base/index.ts';
import type { TemporaryFolder } from '../../../../support/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';

const log = silentLogger();
const forever = new AbortController().signal;
let folder: TemporaryFolder;
let stack: AsyncDisposableStack;
before(async () => {
  folder = await temporaryFolder('csi-');
});
after(() => folder[Symbol.asyncDispose]());
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

type Answer = (signal: AbortSignal) => Promise<MessageInitShape<typeof NodeGetInfoResponseSchema>>;

let sockets = 0;

/** A driver behind a socket of its own, as the registry hands it on. */
async function plugin(answer: Answer, change: Partial<PluginInfo> = {}): Promise<PluginInfo> {
  sockets += 1;
  const endpoint = join(folder.path, `${sockets}.sock`);
  const services = [implement(Node, { nodeGetInfo: (_request, { signal }) => answer(signal) })];
  stack.use(await serveUnix({ path: endpoint, services, log }));
  const socket = join(folder.path, `${sockets}-reg.sock`);
  const fields = { type: 'CSIPlugin', name: 'one.example.com', versions: ['1.9.0'], madeMs: sockets };
  return { ...fields, endpoint, socket, ...change };
}

interface Cluster extends CsiPublisher {
  told: readonly CsiDriver[];
  verdict: Publication;
}

/** What stands for the cluster: it knows at once, and says what the test wants. */
function createCluster(): Cluster {
  return {
    told: [],
    verdict: { state: 'published', sinceMs: 0 },
    publish(drivers) {
      this.told = drivers;
    },
    publicationOf() {
      return this.verdict;
    },
    waitForTry: async () => undefined,
  };
}

const nodeInfo = { withinMs: 5000, callMs: 200, random: () => 1 };

function createHandler(publisher: CsiPublisher | undefined = undefined) {
  return new CsiHandler({ publisher, clock: systemClock, log, nodeInfo });
}

const fine: Answer = async () => ({ nodeId: 'id-1', maxVolumesPerNode: 8n });

describe('a CSI driver that registers', () => {
  test('is in use with what it says of the node, and is told to the cluster; it goes when it is deregistered', async () => {
    const cluster = createCluster();
    const handler = createHandler(cluster);
    let changes = 0;
    using _following = handler.onChange(() => {
      changes += 1;
    });
    const one = await plugin(fine, { versions: ['0.3.0', '1.2.0', '1.11.0'] });
    handler.validate(one);
    await handler.register(one, forever);
    const { name, endpoint, socket } = one;
    const driver = { name, endpoint, socket, version: '1.11.0', nodeId: 'id-1', maxVolumes: 8, topology: {} };
    assert.deepEqual(handler.driver('one.example.com'), driver);
    assert.deepEqual(cluster.told, [driver]);
    assert.deepEqual(handler.details?.(one), {
      version: '1.11.0',
      nodeID: 'id-1',
      maxVolumes: 8,
      csiNode: 'published',
    });
    await handler.deregister(one);
    assert.deepEqual([handler.drivers(), cluster.told, changes], [[], [], 2]);
    assert.equal(handler.details?.(one), undefined);
  });

  test('is in use where there is no control plane, for this node only', async () => {
    const metrics = createMetrics();
    const handler = new CsiHandler({ publisher: undefined, clock: systemClock, log, metrics });
    const one = await plugin(fine);
    await handler.register(one, forever);
    assert.equal(handler.details?.(one)?.['csiNode'], 'local');
    assert.match(await metrics.metrics(), /nodeward_csi_drivers\{csinode="local"\} 1/);
  });

  test('is asked again while it hangs or fails, and the reason is seen meanwhile', async () => {
    const handler = createHandler();
    let calls = 0;
    const answer: Answer = async (signal) => {
      calls += 1;
      if (calls === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      if (calls === 2) throw new GrpcError(grpcCodes.UNAVAILABLE, 'no metadata yet');
      return { nodeId: 'id-1' };
    };
    const one = await plugin(answer);
    const registering = handler.register(one, forever);
    await waitFor('the first failure', () =>
      /no answer within/.test(String(handler.details?.(one)?.['nodeInfo'])),
    );
    await waitFor('the second failure', () =>
      /no metadata yet/.test(String(handler.details?.(one)?.['nodeInfo'])),
    );
    await registering;
    assert.equal(calls, 3);
    assert.equal(handler.driver('one.example.com')?.nodeId, 'id-1');
  });

  test('is given up after its time, with its last words, and leaves nothing', async () => {
    const cluster = createCluster();
    const handler = new CsiHandler({
      publisher: cluster,
      clock: systemClock,
      log,
      nodeInfo: { withinMs: 600 },
    });
    const one = await plugin(() => Promise.reject(new GrpcError(grpcCodes.INTERNAL, 'the disk is on fire')));
    await assert.rejects(handler.register(one, forever), /NodeGetInfo: the disk is on fire/);
    assert.deepEqual([handler.drivers(), cluster.told, handler.details?.(one)], [[], [], undefined]);
  });

  test('is not asked again where that is of no use: no such method, an answer that cannot be used', async () => {
    const handler = createHandler();
    let calls = 0;
    const empty = await plugin(async () => {
      calls += 1;
      return { nodeId: '' };
    });
    await assert.rejects(handler.register(empty, forever), /node_id: it is empty/);
    assert.equal(calls, 1);

    sockets += 1;
    const endpoint = join(folder.path, `${sockets}.sock`);
    stack.use(await serveUnix({ path: endpoint, services: [implement(Node, {})], log }));
    await assert.rejects(handler.register({ ...empty, endpoint }, forever), /NodeGetInfo: .*implement/i);
  });

  test('is given up at once when its socket goes', async () => {
    const handler = createHandler();
    const hanging = await plugin(
      (signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gone')))),
    );
    const going = new AbortController();
    const registering = handler.register(hanging, going.signal);
    await waitFor('the question', () => handler.details?.(hanging));
    going.abort();
    await assert.rejects(registering, { name: 'AbortError' });
    assert.deepEqual(handler.drivers(), []);
  });

  test('is refused where the cluster refuses it, and leaves nothing', async () => {
    const cluster = createCluster();
    cluster.verdict = { state: 'refused', sinceMs: 0, problem: 'a label says otherwise' };
    const handler = createHandler(cluster);
    const one = await plugin(fine);
    await assert.rejects(
      handler.register(one, forever),
      /cannot be entered in the CSINode: a label says otherwise/,
    );
    assert.deepEqual([handler.drivers(), cluster.told], [[], []]);
  });

  test('is in use also while the API is away; why it is not told is seen', async () => {
    const cluster = createCluster();
    cluster.verdict = { state: 'pending', sinceMs: 0, problem: 'the API refuses connections' };
    const handler = createHandler(cluster);
    const one = await plugin(fine);
    await handler.register(one, forever);
    assert.equal(handler.drivers().length, 1);
    const { csiNode, csiNodeProblem } = handler.details?.(one) ?? {};
    assert.deepEqual([csiNode, csiNodeProblem], ['pending', 'the API refuses connections']);
  });

  test('takes the place of another of its name with a higher version only, and gives it back', async () => {
    const handler = createHandler();
    const old = await plugin(fine);
    await handler.register(old, forever);
    const same = await plugin(fine);
    assert.throws(() => handler.validate(same), /registered already, with version 1\.9\.0/);

    const newer = await plugin(async () => ({ nodeId: 'id-2' }), { versions: ['1.10.0'] });
    handler.validate(newer);
    await handler.register(newer, forever);
    assert.equal(handler.driver('one.example.com')?.nodeId, 'id-2');
    assert.equal(handler.details?.(old)?.['csiNode'], 'another of this name is in use');

    await handler.deregister(newer);
    assert.equal(handler.driver('one.example.com')?.nodeId, 'id-1');
  });

  test('is the first of two that come at once', async () => {
    const handler = createHandler();
    const both = [await plugin(fine), await plugin(fine)];
    for (const each of both) handler.validate(each);
    const results = await Promise.allSettled(both.map((each) => handler.register(each, forever)));
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    assert.equal(handler.drivers().length, 1);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createNodeStatusService, NodeVolumesInUse } from '../../../../src/agent/node/index.ts';
import { nodeKind } from '../../../../src/api/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { createFakeApi } from './fake-api.ts';
import {
  createFakeRuntime,
  facts,
  healthy,
  nodeSettings,
  noPressure,
  recordingLog,
  runtimeReady,
} from './samples.ts';

const open = new AbortController().signal;
const name = 'node-a';

/** The status of a node with what is in use there. */
async function start(inUse: NodeVolumesInUse, stored: string[] = []) {
  const clock = createManualClock();
  const api = createFakeApi(clock);
  if (stored.length > 0) await api.create(nodeKind, { metadata: { name }, status: { volumesInUse: stored } });
  const service = createNodeStatusService({
    ...{ nodeName: name, hostname: name, api, clock, volumesInUse: inUse },
    runtime: createFakeRuntime(runtimeReady),
    log: recordingLog().log,
    port: () => 10_250,
    random: () => 0.5,
    facts: async () => facts,
    measure: async () => healthy,
    settings: () => nodeSettings,
    pressures: () => noPressure,
    addresses: () => [],
  });
  const stop = new AbortController();
  const running = service.run(stop.signal, () => undefined);
  await clock.advance(0);
  return {
    clock,
    api,
    inUse: () => api.read(nodeKind, name).status?.volumesInUse ?? [],
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

describe('volumes in use', () => {
  test('are announced before they are used, at once, and withdrawn', async () => {
    const inUse = new NodeVolumesInUse();
    await using node = await start(inUse);
    inUse.settle();
    await node.clock.advance(1000);
    let isDone = false;
    const announced = inUse.announce('a', open).then(() => {
      isDone = true;
    });
    assert.equal(isDone, false);
    await node.clock.advance(600);
    await announced;
    assert.deepEqual(node.inUse(), ['a']);
    await inUse.announce('a', open); // it is there
    inUse.withdraw('a');
    await node.clock.advance(600);
    assert.deepEqual(node.inUse(), []);
  });

  test('of an agent before this one stay until it is settled which are here', async () => {
    const inUse = new NodeVolumesInUse();
    await using node = await start(inUse, ['gone', 'kept']);
    void inUse.announce('kept', open);
    void inUse.announce('new', open);
    await node.clock.advance(600);
    assert.deepEqual(node.inUse(), ['gone', 'kept', 'new']);
    inUse.settle();
    await node.clock.advance(600);
    assert.deepEqual(node.inUse(), ['kept', 'new']);
  });

  test('are not waited for longer than the caller wants', async () => {
    const stop = new AbortController();
    const waiting = new NodeVolumesInUse().announce('a', stop.signal);
    stop.abort(new Error('the pod ends'));
    await assert.rejects(waiting, { message: 'the pod ends' });
  });
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Node } from '../../../../../src/agent/plugins/csi/gen/csi_pb.js';
import { CsiVolumeDrivers, volumeCallMetrics } from '../../../../../src/agent/plugins/csi/index.ts';
import type { Handlers } from '../../../../../src/base/grpc/index.ts';
import { GrpcError, grpcCodes, implement, serveUnix } from '../../../../../src/base/grpc/index.ts';
import { createMetrics, silentLogger, systemClock } from '../../../../../src/base/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { driverOf } from './drivers.ts';

const open = new AbortController().signal;
const quiet = { [Symbol.dispose]: () => undefined };

async function serve(handlers: Handlers<typeof Node>, deadlineMs = 10_000) {
  const folder = await temporaryFolder('csi-');
  const endpoint = join(folder.path, 'd.sock');
  const server = await serveUnix({
    path: endpoint,
    services: [implement(Node, handlers)],
    log: silentLogger(),
  });
  const registered = new Map([['d', driverOf('d', { endpoint })]]);
  const metrics = createMetrics();
  const drivers = new CsiVolumeDrivers({
    drivers: { driver: (name) => registered.get(name), drivers: () => [], onChange: () => quiet },
    clock: systemClock,
    metrics: volumeCallMetrics(metrics),
    deadlineMs,
  });
  const driver = drivers.driver('d');
  assert.ok(driver);
  return {
    ...{ driver, drivers, registered, metrics, endpoint },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const request = {
  ...{ volumeId: 'v', publishContext: { p: '1' }, stagingPath: '/s', targetPath: '/t', isReadOnly: true },
  capability: { accessMode: 1, mount: { fsType: 'ext4', flags: ['noatime'], group: '7' } },
  secrets: { key: 'secret' },
  volumeContext: { c: '2' },
};

describe('a call of a driver for a volume', () => {
  test('has all that was asked for, on the wire', async () => {
    const seen: unknown[] = [];
    await using it = await serve({
      nodePublishVolume: async ({ $typeName: _, ...asked }) => {
        seen.push(asked);
        return {};
      },
      nodeUnstageVolume: async ({ volumeId, stagingTargetPath }) => {
        seen.push([volumeId, stagingTargetPath]);
        return {};
      },
    });
    await it.driver.publish(request, open);
    await it.driver.publish({ ...request, capability: { accessMode: 5, mount: undefined } }, open);
    await it.driver.unstage('v', '/s', open);
    const [mounted, block, unstaged] = JSON.parse(
      JSON.stringify(seen, (key, value) => (key === '$typeName' ? undefined : value)),
    );
    const common = {
      ...{ volumeId: 'v', publishContext: { p: '1' }, stagingTargetPath: '/s', targetPath: '/t' },
      ...{ readonly: true, secrets: { key: 'secret' }, volumeContext: { c: '2' } },
    };
    const value = { fsType: 'ext4', mountFlags: ['noatime'], volumeMountGroup: '7' };
    const accessType = { case: 'mount', value };
    assert.deepEqual(mounted, { ...common, volumeCapability: { accessType, accessMode: { mode: 1 } } });
    assert.deepEqual(block, {
      ...common,
      volumeCapability: { accessType: { case: 'block', value: {} }, accessMode: { mode: 5 } },
    });
    assert.deepEqual(unstaged, ['v', '/s']);
  });

  const codes: [code: keyof typeof grpcCodes, name: string, isFinal: boolean][] = [
    ['CANCELLED', 'Canceled', false],
    ['UNKNOWN', 'Unknown', true],
    ['INVALID_ARGUMENT', 'InvalidArgument', true],
    ['NOT_FOUND', 'NotFound', true],
    ['ALREADY_EXISTS', 'AlreadyExists', true],
    ['PERMISSION_DENIED', 'PermissionDenied', true],
    ['RESOURCE_EXHAUSTED', 'ResourceExhausted', false],
    ['FAILED_PRECONDITION', 'FailedPrecondition', true],
    ['ABORTED', 'Aborted', false],
    ['OUT_OF_RANGE', 'OutOfRange', true],
    ['UNIMPLEMENTED', 'Unimplemented', true],
    ['INTERNAL', 'Internal', true],
    ['UNAVAILABLE', 'Unavailable', false],
    ['UNAUTHENTICATED', 'Unauthenticated', true],
  ];
  for (const [code, name, isFinal] of codes)
    test(`that fails with ${name} is ${isFinal ? 'over' : 'in doubt'}`, async () => {
      await using it = await serve({
        nodeStageVolume: async () => {
          throw new GrpcError(Number(grpcCodes[code]), 'why');
        },
      });
      const message = `rpc error: code = ${name} desc = why`;
      await assert.rejects(it.driver.stage(request, open), { message, isFinal });
    });

  test('that is not answered in time, or ended by its caller, is in doubt', async () => {
    const hang = (signal: AbortSignal) =>
      new Promise<Record<string, never>>((resolve) => signal.addEventListener('abort', () => resolve({})));
    await using it = await serve({ nodeUnpublishVolume: (_request, { signal }) => hang(signal) }, 200);
    await assert.rejects(it.driver.unpublish('v', '/t', open), {
      message: 'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
      isFinal: false,
    });
    const stop = new AbortController();
    const called = it.driver.unpublish('v', '/t', stop.signal);
    stop.abort();
    await assert.rejects(called, { isFinal: false });
    assert.match(
      await it.metrics.metrics(),
      /nodeward_csi_call_seconds_count\{driver="d",method="NodeUnpublishVolume",result="DEADLINE_EXCEEDED"\} 1/,
    );
  });

  test('asks what a driver can do once for each registration', async () => {
    let asked = 0;
    await using it = await serve({
      nodeGetCapabilities: async () => {
        asked += 1;
        const types = [1, 2, 3, 5, 6, 99];
        return { capabilities: types.map((type) => ({ type: { case: 'rpc', value: { type } } as const })) };
      },
    });
    for (let i = 0; i < 2; i += 1)
      assert.deepEqual(
        [...(await it.driver.abilities(open))],
        ['stage', 'stats', 'expand', 'several-writers', 'mount-group'],
      );
    assert.equal(asked, 1);
    it.registered.set('d', driverOf('d', { endpoint: it.endpoint }));
    await it.drivers.driver('d')?.abilities(open);
    assert.equal(asked, 2);
    it.registered.clear();
    assert.equal(it.drivers.driver('d'), undefined);
  });
});

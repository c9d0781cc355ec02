/** DRA drivers that register, are asked for devices, are upgraded and vanish, over real gRPC. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { DRAPlugin as V1 } from '../../../../../src/agent/plugins/dra/gen/v1_pb.js';
import { DRAPlugin as V1Beta1 } from '../../../../../src/agent/plugins/dra/gen/v1beta1_pb.js';
import type { DraDriver, DraHandlerOptions } from '../../../../../src/agent/plugins/dra/index.ts';
import { DraHandler } from '../../../../../src/agent/plugins/dra/index.ts';
import type { PluginInfo } from '../../../../../src/agent/plugins/index.ts';
import type { Handlers } from '../../../../../src/base/grpc/index.ts';
import { GrpcError, grpcCodes, implement, serveUnix } from '../../../../../src/base/grpc/index.ts';
import { createMetrics, silentLogger, systemClock } from '../../../../../src/base/index.ts';
import type { TemporaryFolder } from '../../../../support/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';

const log = silentLogger();
const forever = new AbortController().signal;
const name = 'dra.example.com';
let folder: TemporaryFolder;
let stack: AsyncDisposableStack;
before(async () => {
  folder = await temporaryFolder('dra-');
});
after(() => folder[Symbol.asyncDispose]());
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

function createHandler(options: Partial<DraHandlerOptions> = {}) {
  return stack.use(new DraHandler({ clock: systemClock, log, deadlineMs: 5000, ...options }));
}

let sockets = 0;

/** A registration as the registry hands it on; nobody serves it yet. */
function pluginAt(change: Partial<PluginInfo> = {}): PluginInfo {
  sockets += 1;
  const [endpoint, socket] = [`${sockets}.sock`, `${sockets}-reg.sock`].map((each) =>
    join(folder.path, each),
  );
  const versions = ['v1.DRAPlugin', 'v1beta1.DRAPlugin'];
  assert.ok(endpoint && socket);
  return { type: 'DRAPlugin', name, versions, endpoint, socket, madeMs: sockets, ...change };
}

type Asked = Handlers<typeof V1>;

/** Answers with a device that bears its mark. */
function marked(mark: string, asked: string[] = []): Asked {
  return {
    async nodePrepareResources({ claims }) {
      asked.push(...claims.map(({ uid, namespace, name: claim }) => `${namespace}/${claim}/${uid}`));
      const devices = [{ poolName: 'pool', deviceName: mark, cdiDeviceIds: [`example.com/gpu=${mark}`] }];
      return { claims: Object.fromEntries(claims.map(({ uid }) => [uid, { devices }])) };
    },
    async nodeUnprepareResources({ claims }) {
      asked.push(...claims.map(({ uid }) => `-${uid}`));
      return { claims: Object.fromEntries(claims.map(({ uid }) => [uid, {}])) };
    },
  };
}

async function serve({ endpoint }: PluginInfo, handlers: Asked, service: typeof V1 | typeof V1Beta1 = V1) {
  return stack.use(await serveUnix({ path: endpoint, services: [implement(service, handlers)], log }));
}

const claims = [
  { namespace: 'default', name: 'one', uid: 'uid-1' },
  { namespace: 'default', name: 'two', uid: 'uid-2' },
];

async function deviceOf(driver: DraDriver | undefined): Promise<string> {
  const results = await driver?.prepare(claims, forever);
  const result = results?.get('uid-1');
  assert.ok(result !== undefined && 'devices' in result, JSON.stringify(result));
  return result.devices[0]?.device ?? '';
}

describe('a DRA driver', () => {
  test('prepares claims and takes them back, by the best service that both know', async () => {
    const handler = createHandler();
    const asked: string[] = [];
    const plugin = pluginAt();
    await serve(plugin, marked('a', asked));
    handler.validate(plugin);
    await handler.register(plugin, forever);
    assert.equal(await deviceOf(handler.driver(name)), 'a');
    const back = await handler.driver(name)?.unprepare(claims, forever);
    assert.deepEqual(
      [...(back?.entries() ?? [])],
      [
        ['uid-1', { error: undefined }],
        ['uid-2', { error: undefined }],
      ],
    );
    assert.deepEqual(asked, ['default/one/uid-1', 'default/two/uid-2', '-uid-1', '-uid-2']);
    assert.equal(handler.driver(name)?.readiness().service, 'v1.DRAPlugin');
  });

  test('of the earlier version is asked under its name', async () => {
    const handler = createHandler();
    const plugin = pluginAt({ versions: ['v1beta1.DRAPlugin', 'v1alpha1.DRAResourceHealth'] });
    await serve(plugin, marked('beta'), V1Beta1);
    await handler.register(plugin, forever);
    assert.equal(await deviceOf(handler.driver(name)), 'beta');
    const { service, asked } = handler.details?.(plugin) ?? {};
    assert.deepEqual([service, asked], ['v1beta1.DRAPlugin', true]);
  });

  test('is refused without a service that is known, with a bad name, or with the endpoint of another', async () => {
    const handler = createHandler();
    for (const versions of [[], ['1.0.0'], ['v2.DRAPlugin']]) {
      assert.throws(
        () => handler.validate(pluginAt({ versions })),
        /none of the services that the driver names/,
      );
    }
    for (const bad of ['', 'Upper.example.com', 'x'.repeat(64), 'a/b']) {
      assert.throws(() => handler.validate(pluginAt({ name: bad })), /cannot be the name of a DRA driver/);
    }
    const first = pluginAt();
    await handler.register(first, forever);
    assert.throws(() => handler.validate(pluginAt({ endpoint: first.endpoint })), /registered already, by/);
    handler.validate(first); // itself again
  });

  test('is known, not connected, until it listens; the connection that is lost comes back by itself', async () => {
    const handler = createHandler();
    const plugin = pluginAt();
    await handler.register(plugin, forever);
    const driver = handler.driver(name);
    const readiness = () => driver?.readiness();
    assert.equal(readiness()?.isConnected, false);
    await assert.rejects(
      async () => await driver?.prepare(claims, forever),
      /DRA driver dra\.example\.com: NodePrepareResources: /,
    );

    let changes = 0;
    using _following = handler.onChange(() => {
      changes += 1;
    });
    const server = await serve(plugin, marked('a'));
    await waitFor('the connection', () => readiness()?.isConnected);
    const sinceMs = readiness()?.sinceMs ?? 0;
    assert.ok(sinceMs <= Date.now() && Date.now() - sinceMs < 60_000);
    assert.equal(handler.details?.(plugin)?.['connected'], true);

    await server[Symbol.asyncDispose]();
    await waitFor('the end of the connection', () => readiness()?.isConnected === false);
    await serve(plugin, marked('again'));
    await waitFor('the connection again', () => readiness()?.isConnected);
    assert.equal(changes, 3);
    assert.equal(await deviceOf(driver), 'again');
  });

  test('has two sockets during an upgrade: the newer is asked, the older when that goes, whichever registered first', async () => {
    for (const order of [
      ['old', 'new'],
      ['new', 'old'],
    ]) {
      const handler = createHandler();
      const plugins = new Map([
        ['old', pluginAt()],
        ['new', pluginAt()],
      ]);
      const servers = new Map<string, AsyncDisposable>();
      for (const mark of order) {
        const plugin = plugins.get(mark);
        assert.ok(plugin);
        servers.set(mark, await serve(plugin, marked(mark)));
        await handler.register(plugin, forever);
      }
      const driver = handler.driver(name);
      await waitFor('both connections', () =>
        [...plugins.values()].every((plugin) => handler.details?.(plugin)?.['connected'] === true),
      );
      assert.equal(driver?.readiness().sockets, 2);
      assert.equal(await deviceOf(driver), 'new');

      // when the newer is killed, the older serves, and the newer again when it is back
      const newer = plugins.get('new');
      assert.ok(newer);
      await servers.get('new')?.[Symbol.asyncDispose]();
      assert.equal(await deviceOf(driver), 'old');
      await serve(newer, marked('new'));
      await waitFor('the newer to serve', async () => (await deviceOf(driver)) === 'new');

      // and when it is deregistered the older serves for good, through the same handle
      await handler.deregister(newer);
      assert.equal(await deviceOf(driver), 'old');
      assert.equal(driver?.readiness().sockets, 1);
    }
  });

  test('that leaves in the middle of a call, as at the end of an upgrade, is followed by its successor', async () => {
    const handler = createHandler();
    const [old, newer] = [pluginAt(), pluginAt()];
    let asked = false;
    await serve(old, {
      nodePrepareResources: async (_request, { signal }) => {
        asked = true;
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        return {};
      },
    });
    await handler.register(old, forever);
    const device = deviceOf(handler.driver(name));
    await waitFor('the call', () => asked);
    await serve(newer, marked('new'));
    await handler.register(newer, forever);
    await handler.deregister(old);
    assert.equal(await device, 'new');
  });

  test('is not there any more when its last socket has gone', async () => {
    const handler = createHandler();
    const plugin = pluginAt();
    await serve(plugin, marked('a'));
    await handler.register(plugin, forever);
    const driver = handler.driver(name);
    await handler.deregister(plugin);
    assert.deepEqual([handler.driver(name), handler.drivers()], [undefined, []]);
    await assert.rejects(
      async () => await driver?.prepare(claims, forever),
      /dra\.example\.com is not registered/,
    );
  });

  test('that hangs is given up after its time, or when the caller gives up', async () => {
    const metrics = createMetrics();
    const handler = createHandler({ deadlineMs: 100, metrics });
    const plugin = pluginAt();
    const never: Asked = {
      nodePrepareResources: (_request, { signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('given up')))),
    };
    await serve(plugin, never);
    await handler.register(plugin, forever);
    const driver = handler.driver(name);
    await assert.rejects(async () => await driver?.prepare(claims, forever), /no answer within 0\.1 s/);
    const giving = AbortSignal.abort();
    await assert.rejects(async () => await driver?.prepare(claims, giving), { name: 'AbortError' });
    const told = await metrics.metrics();
    assert.match(told, /nodeward_dra_call_seconds_count\{.*result="DEADLINE_EXCEEDED".*\} 1/);
    assert.match(told, /nodeward_dra_driver_connected\{driver="dra\.example\.com"\} 1/);
  });

  test('that refuses, answers for strangers or floods fails with a reason, and works at the next call', async () => {
    const handler = createHandler();
    const plugin = pluginAt();
    const flood = 'x'.repeat(5 * 1024 * 1024);
    const answers: Asked['nodePrepareResources'][] = [
      () => Promise.reject(new GrpcError(grpcCodes.FAILED_PRECONDITION, 'not today')),
      async () => ({ claims: { stranger: {} } }),
      async () => ({ claims: { 'uid-1': { error: flood } } }),
    ];
    const good = marked('a').nodePrepareResources;
    await serve(plugin, {
      nodePrepareResources: (request, call) => {
        const answer = answers.shift() ?? good;
        assert.ok(answer);
        return answer(request, call);
      },
    });
    await handler.register(plugin, forever);
    const driver = handler.driver(name);
    for (const reason of [/not today/, /answers for a claim "stranger"/, /larger than max/]) {
      await assert.rejects(async () => await driver?.prepare(claims, forever), reason);
    }
    assert.equal(await deviceOf(driver), 'a');
    await assert.rejects(async () => await driver?.unprepare(claims, forever), /NodeUnprepareResources/);
  });

  test('is not asked for a claim twice in one call, nor for too many', async () => {
    const handler = createHandler();
    await handler.register(pluginAt(), forever);
    const driver = handler.driver(name);
    const [first] = claims;
    assert.ok(first);
    await assert.rejects(
      async () => await driver?.prepare([first, first], forever),
      /a claim is named twice/,
    );
    const many = Array.from({ length: 257 }, (_, index) => ({ ...first, uid: `uid-${index}` }));
    await assert.rejects(async () => await driver?.prepare(many, forever), /257 claims at once, at most 256/);
  });
});

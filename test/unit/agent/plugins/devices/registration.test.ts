import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Registration } from '../../../../../src/agent/plugins/devices/gen/device-plugin_pb.js';
import { registrationServer } from '../../../../../src/agent/plugins/devices/index.ts';
import { GrpcError, grpcCodes, openUnixClient } from '../../../../../src/base/grpc/index.ts';
import type { Clock } from '../../../../../src/base/index.ts';
import { silentLogger, systemClock } from '../../../../../src/base/index.ts';
import { startFakePlugin } from '../../../../support/fake-device-plugin.ts';
import { fastClock } from '../../../../support/fast-clock.ts';
import { waitFor } from '../../../../support/index.ts';
import type { Bench } from './support.ts';
import { resource, startBench } from './support.ts';

interface Asked {
  version?: string;
  endpoint?: string;
  resourceName?: string;
}

interface ServerOptions {
  /** The manager's; the server looks for its socket on the system's. */
  clock?: Clock;
  prepare?(folder: string): Promise<void>;
}

/** A bench whose manager is served on `agent.sock`. */
async function startServer({ clock = systemClock, prepare = async () => undefined }: ServerOptions = {}) {
  const bench = await startBench({ clock });
  const folder = join(bench.folder, 'device-plugins');
  const socket = join(folder, 'agent.sock');
  await prepare(folder);
  const end = new AbortController();
  const run = registrationServer({
    manager: bench.manager,
    socket,
    clock: systemClock,
    log: silentLogger(),
    lookMs: 20,
  });
  let ready = false;
  const running = run(end.signal, () => {
    ready = true;
  });
  await waitFor('the server to be ready', () => ready);
  return {
    bench,
    folder,
    socket,
    async register({
      version = 'v1beta1',
      endpoint = 'p.sock',
      resourceName = resource,
    }: Asked): Promise<void> {
      using client = openUnixClient(socket);
      await client.unary(
        Registration.method.register,
        { version, endpoint, resourceName },
        { deadlineMs: 20_000 },
      );
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      await running;
      await bench[Symbol.asyncDispose]();
    },
  };
}

const refusal =
  (pattern: RegExp, code: number = grpcCodes.FAILED_PRECONDITION) =>
  (error: unknown) => {
    assert.ok(error instanceof GrpcError);
    assert.match(error.message, pattern);
    assert.equal(error.code, code);
    return true;
  };

const known = (bench: Bench) => [...bench.manager.inventory.resources().keys()];

describe('the registration socket', () => {
  test('takes a plugin beside it into use before it answers', async () => {
    await using server = await startServer();
    await using plugin = await startFakePlugin({
      socket: join(server.folder, 'p.sock'),
      devices: [{ id: 'd0' }],
    });
    await server.register({});
    assert.deepEqual(plugin.calls.slice(0, 1), ['options']);
    await waitFor('the list', () => server.bench.amounts() === '1/1');
    const { mode } = await stat(server.socket);
    assert.equal(mode & 0o777, 0o600);
    assert.equal((await stat(server.folder)).mode & 0o777, 0o700);
  });

  for (const version of ['v1alpha1', 'v1alpha', 'v1', '', 'x'.repeat(5000)]) {
    test(`refuses version ${JSON.stringify(version.slice(0, 20))}, and says which it speaks`, async () => {
      await using server = await startServer();
      await assert.rejects(
        server.register({ version }),
        refusal(/of the device plugin interface, this agent v1beta1 only/),
      );
      assert.deepEqual(known(server.bench), []);
    });
  }

  for (const endpoint of [
    '',
    '.',
    '..',
    '../p.sock',
    '/etc/p.sock',
    'sub/p.sock',
    'a\\b',
    'a\0b',
    'x'.repeat(5000),
  ]) {
    test(`refuses the endpoint ${JSON.stringify(endpoint.slice(0, 20))}`, async () => {
      await using server = await startServer();
      await assert.rejects(server.register({ endpoint }), refusal(/is no file name|at most 107 bytes/));
      assert.deepEqual(known(server.bench), []);
    });
  }

  test('refuses its own socket, links and names that are no extended resources', async () => {
    await using server = await startServer();
    await using elsewhere = await startFakePlugin({ socket: join(server.bench.folder, 'outside.sock') });
    await symlink(elsewhere.socket, join(server.folder, 'link.sock'));
    await assert.rejects(server.register({ endpoint: 'agent.sock' }), refusal(/the agent's own socket/));
    await assert.rejects(server.register({ endpoint: 'link.sock' }), refusal(/symbolic link/));
    await assert.rejects(
      server.register({ resourceName: 'nvidia.kubernetes.io/gpu' }),
      refusal(/kubernetes\.io/),
    );
    await assert.rejects(server.register({ resourceName: 'memory' }), refusal(/has a domain/));
    assert.deepEqual(elsewhere.calls, []);
  });

  test('tells a plugin why it could not be asked', async () => {
    await using server = await startServer();
    await writeFile(join(server.folder, 'file.sock'), '');
    await assert.rejects(
      server.register({ endpoint: 'file.sock' }),
      refusal(/file\.sock is no socket/, grpcCodes.UNKNOWN),
    );
  });

  test('bears a plugin that talks something else', async () => {
    // while its answer is no gRPC, the manager takes it for one that does not listen yet, and is patient for 10 s
    await using server = await startServer({ clock: fastClock(10) });
    const garbage = createServer((peer) => {
      peer.on('error', () => undefined);
      peer.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    await new Promise<void>((resolve) => garbage.listen(join(server.folder, 'g.sock'), resolve));
    try {
      await assert.rejects(server.register({ endpoint: 'g.sock' }), GrpcError);
    } finally {
      garbage.close();
    }
    await using _plugin = await startFakePlugin({
      socket: join(server.folder, 'p.sock'),
      devices: [{ id: 'd0' }],
    });
    await server.register({});
    await waitFor('the list', () => server.bench.amounts() === '1/1');
  });

  test('serves many at once', async () => {
    await using server = await startServer();
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
    await using stack = new AsyncDisposableStack();
    for (const name of names) {
      stack.use(
        await startFakePlugin({ socket: join(server.folder, `${name}.sock`), devices: [{ id: name }] }),
      );
    }
    await Promise.all(
      names.map((name) =>
        server.register({ endpoint: `${name}.sock`, resourceName: `vendor.example/${name}` }),
      ),
    );
    await waitFor('all lists', () =>
      names.every((name) => server.bench.amounts(`vendor.example/${name}`) === '1/1'),
    );
  });

  test('is made again when it is removed, or its folder', async () => {
    await using server = await startServer();
    const bornMs = async () => (await stat(server.socket)).birthtimeMs;
    const first = await bornMs();
    await rm(server.socket);
    await waitFor('the socket', async () => (await bornMs()) !== first);
    await using _plugin = await startFakePlugin({
      socket: join(server.folder, 'p.sock'),
      devices: [{ id: 'd0' }],
    });
    await server.register({});
    const second = await bornMs();
    await rm(server.folder, { recursive: true });
    await waitFor('the folder and the socket', async () => (await bornMs()) !== second);
    await using _other = await startFakePlugin({
      socket: join(server.folder, 'o.sock'),
      devices: [{ id: 'd0' }],
    });
    await server.register({ endpoint: 'o.sock', resourceName: 'vendor.example/other' });
  });

  test('comes with a start that removes the sockets of earlier plugins, and nothing else', async () => {
    await using server = await startServer({
      prepare: async (folder) => {
        await mkdir(join(folder, 'sub'), { recursive: true });
        for (const name of ['old.sock', 'sub/deep.sock']) {
          const plugin = await startFakePlugin({ socket: join(folder, 'tmp.sock') });
          await plugin[Symbol.asyncDispose]();
          const left = createServer();
          await new Promise<void>((resolve) => left.listen(join(folder, name), resolve));
          left.unref();
        }
        await symlink('old.sock', join(folder, 'link.sock'));
        await writeFile(join(folder, 'nodeward_internal_checkpoint'), '{}');
        await writeFile(join(folder, 'notes'), '');
      },
    });
    assert.deepEqual((await readdir(server.folder)).sort(), [
      'agent.sock',
      'nodeward_internal_checkpoint',
      'notes',
      'sub',
    ]);
  });

  test('that cannot be made is told and tried again, and the agent starts meanwhile', async () => {
    await using server = await startServer({
      prepare: async (folder) => {
        await writeFile(folder, 'in the way');
      },
    });
    assert.deepEqual(known(server.bench), []);
    await rm(server.folder);
    await waitFor('the socket', async () => (await stat(server.socket)).isSocket());
    await chmod(server.folder, 0o700);
  });
});

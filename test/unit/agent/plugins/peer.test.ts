import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Registration } from '../../../../src/agent/plugins/gen/registration_pb.js';
import { openPeer } from '../../../../src/agent/plugins/peer.ts';
import type { Handlers } from '../../../../src/base/grpc/index.ts';
import { GrpcError, grpcCodes, implement, serveUnix } from '../../../../src/base/grpc/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

const never = new AbortController().signal;

async function serve(handlers: Handlers<typeof Registration>) {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const path = join(folder.path, 'a.sock');
  stack.use(await serveUnix({ path, services: [implement(Registration, handlers)], log: silentLogger() }));
  const peer = stack.use(openPeer(path));
  return { peer, path, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe('a plugin that is asked', () => {
  test('says who it is, and hears what came of it', async () => {
    const heard: [boolean, string][] = [];
    await using served = await serve({
      getInfo: async () => ({ type: 'T', name: 'n', endpoint: '/e', supportedVersions: ['1', '2'] }),
      async notifyRegistrationStatus({ pluginRegistered, error }) {
        heard.push([pluginRegistered, error]);
        return {};
      },
    });
    const { type, name, endpoint, supportedVersions } = await served.peer.info(never);
    assert.deepEqual([type, name, endpoint, supportedVersions], ['T', 'n', '/e', ['1', '2']]);
    await served.peer.notify(undefined, never);
    await served.peer.notify('not wanted', never);
    assert.deepEqual(heard, [
      [true, ''],
      [false, 'not wanted'],
    ]);
  });

  test('has a second', async () => {
    await using served = await serve({ getInfo: () => new Promise(() => undefined) });
    await assert.rejects(served.peer.info(never), { message: 'GetInfo: no answer within 1 s' });
  });

  test('is not waited for when that is given up', async () => {
    await using served = await serve({ getInfo: () => new Promise(() => undefined) });
    const cancel = new AbortController();
    const asked = served.peer.info(cancel.signal);
    cancel.abort();
    await assert.rejects(asked, /^Error: GetInfo: /);
  });

  test('may not answer more than 64 KiB', async () => {
    await using served = await serve({ getInfo: async () => ({ name: 'x'.repeat(70_000) }) });
    await assert.rejects(served.peer.info(never), /GetInfo: .*larger than max/);
  });

  test('that fails is quoted', async () => {
    await using served = await serve({
      async getInfo() {
        throw new GrpcError(grpcCodes.FAILED_PRECONDITION, 'I am not awake yet');
      },
    });
    await assert.rejects(served.peer.info(never), { message: 'GetInfo: I am not awake yet' });
  });

  test('that has no such service is told from one that fails', async () => {
    await using served = await serve({});
    await assert.rejects(served.peer.info(never), /GetInfo: nobody answers that there/);
  });

  test('and is not there is told with its path', async () => {
    await using served = await serve({});
    const { path } = served;
    using absent = openPeer(`${path}.absent`);
    await assert.rejects(absent.info(never), (error: Error) => error.message.includes(`${path}.absent`));
  });
});

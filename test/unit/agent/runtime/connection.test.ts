import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { openConnection } from '../../../../src/agent/runtime/connection.ts';
import { fromGrpcError } from '../../../../src/agent/runtime/errors.ts';
import { RuntimeService } from '../../../../src/agent/runtime/gen/cri_pb.js';
import type { RuntimeFailure } from '../../../../src/agent/runtime/index.ts';
import { GrpcError } from '../../../../src/base/grpc/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { never, refusal, startFakeRuntime } from './fake-runtime.ts';

const { version, listContainers } = RuntimeService.method;

function failsWith(reason: RuntimeFailure, message: RegExp) {
  return { name: 'RuntimeError', reason, message };
}

describe('connection to the container runtime', () => {
  test('sends a deadline when told so, and none at all for null', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    using connection = openConnection([fake.endpoint]);
    const seen: (Date | number)[] = [];
    fake.on(version, (_request, { deadline }) => {
      seen.push(deadline);
      return { runtimeName: 'fake' };
    });
    await connection.call(version, {}, { deadlineMs: 60_000 });
    const answer = await connection.call(version, {}, { deadlineMs: null });
    assert.equal(answer.runtimeName, 'fake');
    assert.ok(seen[0] instanceof Date || Number.isFinite(seen[0]));
    assert.equal(seen[1], Number.POSITIVE_INFINITY);
  });

  test('an ordinary user is told that the socket is for root', () => {
    const words =
      'No connection established. Last error: Error: connect EACCES /run/containerd/containerd.sock';
    assert.equal(
      fromGrpcError(new GrpcError(status.UNAVAILABLE, words)).message,
      'this user may not use /run/containerd/containerd.sock: run nodeward as root',
    );
  });

  test('the socket is claimed before each call, and where it is another agent’s nothing is sent', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    let calls = 0;
    fake.on(version, () => ({ runtimeName: String(++calls) }));
    const claimed: string[] = [];
    let refused: Error | undefined;
    const claim = async (socket: string) => {
      claimed.push(socket);
      if (refused !== undefined) throw refused;
    };
    using connection = openConnection([fake.endpoint], { claim });
    const call = () => connection.call(version, {}, { deadlineMs: 60_000 });
    await call();
    await call();
    assert.deepEqual(claimed, [join(folder.path, 's'), join(folder.path, 's')]);
    refused = new Error('another agent uses it');
    await assert.rejects(call(), failsWith('unavailable', /^another agent uses it$/));
    using late = openConnection([fake.endpoint], { claim });
    const first = late.call(version, {}, { deadlineMs: 60_000 });
    await assert.rejects(first, failsWith('unavailable', /^another agent uses it$/));
    assert.equal(calls, 2);
  });

  test('errors have a reason of their own', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    using connection = openConnection([fake.endpoint]);
    const cases: [status, RuntimeFailure][] = [
      [status.UNIMPLEMENTED, 'unimplemented'],
      [status.UNAVAILABLE, 'unavailable'],
      [status.NOT_FOUND, 'notFound'],
      [status.UNKNOWN, 'failed'],
      [status.CANCELLED, 'unavailable'], // by a server that is being stopped, not by us
      [status.RESOURCE_EXHAUSTED, 'failed'],
    ];
    for (const [code, reason] of cases) {
      fake.on(version, () => {
        throw refusal(code, `told ${code}`);
      });
      await assert.rejects(
        connection.call(version, {}, { deadlineMs: 5000 }),
        failsWith(reason, new RegExp(`told ${code}`)),
      );
    }
    fake.on(version, never);
    await assert.rejects(connection.call(version, {}, { deadlineMs: 50 }), failsWith('timeout', /Deadline/));
  });

  test('a long message is cut', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    using connection = openConnection([fake.endpoint]);
    fake.on(version, () => {
      throw refusal(status.UNKNOWN, 'x'.repeat(6000));
    });
    await assert.rejects(
      connection.call(version, {}, { deadlineMs: 5000 }),
      failsWith('failed', /^x{2048}…$/),
    );
  });

  test('a cancelled call settles at once, and the server learns of it', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    using connection = openConnection([fake.endpoint]);
    const told = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    fake.on(version, (_request, { cancelled }) => {
      cancelled.addEventListener('abort', () => told.resolve());
      begun.resolve();
      return never();
    });
    const cancel = new AbortController();
    const call = connection.call(version, {}, { deadlineMs: null, cancel: cancel.signal });
    await begun.promise;
    cancel.abort();
    await assert.rejects(call, failsWith('cancelled', /Cancelled/));
    await told.promise;

    fake.calls.length = 0;
    const late = connection.call(version, {}, { deadlineMs: null, cancel: cancel.signal });
    await assert.rejects(late, failsWith('cancelled', /before it began/));
    assert.deepEqual(fake.calls, []);
  });

  test('takes a list of containers beyond 4 MiB', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    using connection = openConnection([fake.endpoint]);
    const containers = [{ id: 'c', annotations: { big: 'x'.repeat(6 * 1024 * 1024) } }];
    fake.on(listContainers, () => ({ containers }));
    const answer = await connection.call(listContainers, {}, { deadlineMs: 10_000 });
    assert.equal(answer.containers.length, 1);
  });

  test('connects again by itself when the runtime comes back', async () => {
    await using folder = await temporaryFolder();
    await using fake = await startFakeRuntime(join(folder.path, 's'));
    using connection = openConnection([fake.endpoint]);
    await connection.call(version, {}, { deadlineMs: 5000 });
    await fake.kill();
    await assert.rejects(connection.call(version, {}, { deadlineMs: 5000 }), { reason: 'unavailable' });
    await fake.start();
    await waitFor('the runtime to answer again', async () => {
      return await connection.call(version, {}, { deadlineMs: 5000 });
    });
  });

  test('without an endpoint the first that exists is used, and looked for again once it is gone', async () => {
    await using folder = await temporaryFolder();
    const [first, second] = [join(folder.path, 'first'), join(folder.path, 'second')];
    using connection = openConnection([`unix://${first}`, `unix://${second}`]);
    await assert.rejects(
      connection.call(version, {}, { deadlineMs: 5000 }),
      failsWith('unavailable', /no container runtime found: none of unix:.*first, unix:.*second exists/),
    );
    assert.equal(connection.endpoint, undefined);

    await using later = await startFakeRuntime(second);
    await connection.call(version, {}, { deadlineMs: 5000 });
    assert.equal(connection.endpoint, `unix://${second}`);

    await later.kill();
    await using other = await startFakeRuntime(first);
    await waitFor('the other runtime', async () => await connection.call(version, {}, { deadlineMs: 5000 }));
    assert.equal(connection.endpoint, other.endpoint);
  });

  test('after its end every call fails', async () => {
    const connection = openConnection(['unix:///nowhere/at/all.sock']);
    connection[Symbol.dispose]();
    connection[Symbol.dispose]();
    const call = connection.call(version, {}, { deadlineMs: 5000 });
    await assert.rejects(call, failsWith('unavailable', /closed/));
  });
});

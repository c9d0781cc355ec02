import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import {
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../../../src/agent/probes/gen/health_pb.js';
import { closedPort, probeAt, serveBytes } from './servers.ts';

type Check = (service: string, call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => void;

/** A health service on a free port. */
async function serveHealth(check: Check): Promise<{ port: number } & Disposable> {
  const server = new Server();
  const bytes = (value: Buffer) => value;
  const method = {
    ...{ path: '/grpc.health.v1.Health/Check', requestStream: false, responseStream: false },
    ...{
      requestSerialize: bytes,
      requestDeserialize: bytes,
      responseSerialize: bytes,
      responseDeserialize: bytes,
    },
  };
  const handler = (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) =>
    check(fromBinary(HealthCheckRequestSchema, call.request).service, call, answer);
  server.addService({ check: method }, { check: handler });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { port, [Symbol.dispose]: () => server.forceShutdown() };
}

const says = (serving: ServingStatus) =>
  Buffer.from(toBinary(HealthCheckResponseSchema, create(HealthCheckResponseSchema, { status: serving })));

describe('a probe by gRPC', () => {
  test('succeeds when the service serves, and says who it is', async () => {
    const asked: unknown[] = [];
    using server = await serveHealth((service, call, answer) => {
      asked.push([service, String(call.metadata.get('user-agent')).split(' ')[0]]);
      answer(null, says(ServingStatus.SERVING));
    });
    assert.deepEqual(await probeAt({ grpc: { port: server.port, service: 'web' } }), { result: 'success' });
    assert.deepEqual(asked, [['web', 'kube-probe/1.36']]);
  });

  test('fails when it does not serve', async () => {
    using server = await serveHealth((_service, _call, answer) =>
      answer(null, says(ServingStatus.NOT_SERVING)),
    );
    const output = 'service unhealthy (responded with "NOT_SERVING")';
    assert.deepEqual(await probeAt({ grpc: { port: server.port } }), { result: 'failure', output });
  });

  test('fails when the server knows no health, or not that service', async () => {
    using server = await serveHealth((service, _call, answer) =>
      answer({ code: service === '' ? status.UNIMPLEMENTED : status.NOT_FOUND, details: 'unknown' }),
    );
    const outputs = [
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown',
      'error: health rpc probe failed: unknown',
    ];
    for (const [index, service] of ['', 'other'].entries())
      assert.deepEqual(await probeAt({ grpc: { port: server.port, service } }), {
        result: 'failure',
        output: outputs[index],
      });
  });

  test('fails when no answer comes in its time', async () => {
    using server = await serveHealth(() => undefined);
    const output = 'timeout: health rpc did not complete within 1s';
    assert.deepEqual(await probeAt({ grpc: { port: server.port }, timeoutSeconds: 1 }), {
      result: 'failure',
      output,
    });
  });

  test('fails when nobody listens, or who listens says nothing', async () => {
    for (const port of [await closedPort(), await serveBytes((socket) => void socket.resume())]) {
      const output = `timeout: failed to connect service "127.0.0.1:${port}" within 1s: context deadline exceeded`;
      assert.deepEqual(await probeAt({ grpc: { port }, timeoutSeconds: 1 }), { result: 'failure', output });
    }
  });

  test('fails when the answer is larger than any can be', async () => {
    using server = await serveHealth((_service, _call, answer) => answer(null, Buffer.alloc(1024 * 1024)));
    assert.partialDeepStrictEqual(await probeAt({ grpc: { port: server.port } }), { result: 'failure' });
  });
});

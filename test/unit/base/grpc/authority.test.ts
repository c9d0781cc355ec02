import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { DevicePlugin } from '../../../../src/agent/plugins/devices/gen/device-plugin_pb.js';
import { repairAuthority } from '../../../../src/base/grpc/authority.ts';
import { createRequestRepair } from '../../../../src/base/grpc/connections.ts';
import { implement, serveUnix } from '../../../../src/base/grpc/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

/** As clients in Go have named unix sockets, one version after another. */
const named = [
  '/var/lib/kubelet/device-plugins/kubelet.sock',
  '',
  '%2Fvar%2Flib%2Fkubelet.sock',
  'localhost',
];

/** Answers the gRPC status of a call. */
async function statusOf(session: ClientHttp2Session, authority: string): Promise<unknown> {
  const call = session.request({
    ':method': 'POST',
    ':path': '/v1beta1.DevicePlugin/GetDevicePluginOptions',
    ':authority': authority,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const trailers = once(call, 'trailers');
  call.end(Buffer.alloc(5));
  call.resume();
  const [headers] = (await trailers) as [IncomingHttpHeaders];
  return headers['grpc-status'];
}

test('clients that name the path of the socket as authority, or nothing, are answered', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'x.sock');
  const services = [implement(DevicePlugin, { getDevicePluginOptions: async () => ({}) })];
  await using _server = await serveUnix({ path, services, log: silentLogger() });
  const session = connectHttp2('http://localhost', { createConnection: () => connect(path) });

  for (const authority of [...named, ...named])
    assert.equal(await statusOf(session, authority), '0', authority);

  session.close();
  await once(session, 'close');
});

/** RFC 7541, C.4.1: the first request, its authority www.example.com in Huffman's code. */
const request = Buffer.from('828684418cf1e3c2e5f23a6ba0ab90f4ff', 'hex');

test('what needs no mending stays as it is, the padding of a code and what is cut off too', () => {
  for (let length = 0; length <= request.length; length += 1) {
    assert.deepEqual(repairAuthority(Buffer.from(request.subarray(0, length))), request.subarray(0, length));
  }
});

test('slashes become dots of the same size, plain and in Huffman’s code', () => {
  const plain = Buffer.from('\u0082A\u0006/a/b.c', 'latin1');
  const coded = Buffer.from('824183606c47', 'hex'); // /a/b

  assert.equal(repairAuthority(plain).toString('latin1'), '\u0082A\u0006.a.b.c');
  assert.equal(repairAuthority(coded).toString('hex'), '8241835c6bc7', '.a.b');
});

test('what is no field at all is left alone', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      repairAuthority(Buffer.from(bytes));
    }),
  );
});

test('what a client sends is the same however it is cut, and its frames stay whole', () => {
  const frame = (type: number, content: Buffer) => {
    const head = Buffer.from([0, 0, content.length, type, 4, 0, 0, 0, 1]);
    return Buffer.concat([head, content]);
  };
  const sent = Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(4, Buffer.alloc(0)),
    frame(1, Buffer.from('A\u0002/a')),
    frame(0, Buffer.from('A\u0002/a')),
    frame(1, Buffer.from([0x82, 0x81, 0x86])),
  ]);
  const whole = createRequestRepair()(Buffer.from(sent)).toString('latin1');
  assert.ok(whole.includes('A\u0002.a'), 'fields are mended');
  assert.ok(whole.includes('A\u0002/a'), 'data is not');
  assert.ok(whole.includes('\u0000\u0000\u000d\u0001'), 'the frame that grew says so');

  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: sent.length }), { maxLength: 20 }), (cuts) => {
      const mend = createRequestRepair();
      const at = [0, ...cuts.sort((a, b) => a - b), sent.length];
      const pieces = at.slice(1).map((end, index) => mend(Buffer.from(sent.subarray(at[index], end))));
      assert.equal(Buffer.concat(pieces).toString('latin1'), whole);
    }),
  );
});

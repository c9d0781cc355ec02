import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import type { CloseNotice } from '../../../../src/base/streams/index.ts';
import { createCloseNotice, SpdyClient } from '../../../../src/base/streams/index.ts';
import { controlFrame, dataHead, rstStream, synStream } from '../../../../src/base/streams/spdy-frames.ts';
import { dictionary, formatHeaderBlock } from '../../../../src/base/streams/spdy-headers.ts';
import type { Random } from '../../../support/repetition.ts';
import { below, repetitions, withSeed } from '../../../support/repetition.ts';

const sequences = repetitions('NODEWARD_STREAM_SEQUENCES', 1500);
/** All zeros: a thousandth of what it becomes. */
const bomb = deflateSync(Buffer.alloc(8 * 1024 * 1024), { dictionary });

function randomBytes(length: number, random: Random): Buffer {
  return Buffer.from(Array.from({ length }, () => below(256, random)));
}

type Make = (random: Random) => Buffer;

const streamId: (random: Random) => number = (random) =>
  [0, 1, 2, 3, 5, 7, 0x7f_ff_ff_ff][below(7, random)] ?? 1;

const spdyParts: readonly Make[] = [
  (random) => synStream(streamId(random), formatHeaderBlock({ streamtype: 'error' }, below(2, random) === 0)),
  (random) => synStream(streamId(random), randomBytes(below(60, random), random)),
  (random) => synStream(streamId(random), bomb),
  (random) => rstStream(streamId(random), below(12, random)),
  (random) => controlFrame(below(12, random), randomBytes(below(20, random), random)),
  (random) => controlFrame(below(0x1_00_00, random), Buffer.alloc(below(100_000, random))),
  (random) => controlFrame(6, Buffer.from([0, 0, 0, below(256, random)])),
  (random) => Buffer.concat([dataHead(streamId(random), 4, below(2, random) === 0), Buffer.from('data')]),
  (random) => dataHead(streamId(random), below(0xff_ff_ff, random)),
  (random) => randomBytes(1 + below(40, random), random),
];
const webSocketParts: readonly Make[] = [
  (random) => Buffer.from([0x80 | below(16, random), 2, 1, 2]),
  (random) => Buffer.from([below(256, random), 126, below(256, random), below(256, random)]),
  (random) => Buffer.from([below(256, random), 127, ...randomBytes(8, random)]),
  (random) => randomBytes(1 + below(40, random), random),
];

/** Frames of which some bytes are wrong, cut anywhere. */
function brokenPieces(parts: readonly Make[], random: Random): Buffer[] {
  const frames = Array.from({ length: 1 + below(8, random) }, () =>
    parts[below(parts.length, random)]?.(random),
  );
  const bytes = Buffer.concat(frames.filter((frame) => frame !== undefined));
  for (let wrong = below(4, random); wrong > 0; wrong -= 1)
    bytes.writeUInt8(below(256, random), below(bytes.length, random));
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + below(below(2, random) === 0 ? 5 : 20_000, random);
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}

/** Runs them all; what each keeps would add up. */
async function runAll(run: (random: Random) => Promise<void>): Promise<void> {
  await withSeed(async (random) => {
    for (let round = 0; round < sequences; round += 1) await run(random);
  });
  const { heapUsed, external } = process.memoryUsage();
  assert.ok(heapUsed + external < maxHeldBytes, `${heapUsed + external} bytes are held`);
}

const maxHeldBytes = 400 * 1024 * 1024;

describe(`${sequences} broken sequences`, { timeout: 60_000 + sequences * 20 }, () => {
  test('of SPDY end a client or pass it, and every stream ends once', async () => {
    await runAll(async (random) => {
      const [near, far] = duplexPair();
      far.on('error', () => undefined).resume();
      const client = new SpdyClient(near);
      const ends = [0, 0, 0];
      for (const index of ends.keys())
        client.open(
          { streamtype: String(index) },
          {
            onData: () => undefined,
            onEnd: () => {
              ends[index] = (ends[index] ?? 0) + 1;
            },
          },
        );
      for (const piece of brokenPieces(spdyParts, random)) far.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
      client.write(1, Buffer.from('x'));
      client.destroy();
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(ends, [1, 1, 1]);
    });
  });

  const answers: Record<string, [Record<string, string>, readonly Make[]]> = {
    SPDY: [{ upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' }, spdyParts],
    WebSocket: [{ upgrade: 'websocket', 'sec-websocket-protocol': 'v4.channel.k8s.io' }, webSocketParts],
  };
  for (const [name, [answer, parts]] of Object.entries(answers))
    test(`of ${name} are followed or given up, and there are few bytes to say so`, async () => {
      await runAll(async (random) => {
        using notice: CloseNotice = createCloseNotice(answer, 'command') ?? assert.fail('there is a notice');
        for (const piece of brokenPieces(parts, random)) notice.fromClient(piece);
        for (const piece of brokenPieces(parts, random)) notice.fromServer(piece);
        assert.ok(notice.neededBytes >= 0);
        assert.ok((await notice.frames('why')).length < 4096);
      });
    });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import type { FrameFormat } from '../../../../src/base/streams/frame-reader.ts';
import { FrameError, FrameReader } from '../../../../src/base/streams/frame-reader.ts';
import { controlFrame, dataHead, spdyFormat, synStream } from '../../../../src/base/streams/spdy-frames.ts';
import {
  dictionary,
  formatHeaderBlock,
  HeaderReader,
  parseHeaders,
} from '../../../../src/base/streams/spdy-headers.ts';
import { webSocketFormat } from '../../../../src/base/streams/web-socket-notice.ts';
import { below, withSeed } from '../../../support/repetition.ts';

/** The frames that a reader finds in these pieces, as text. */
function framesIn(format: FrameFormat, pieces: readonly Buffer[]): string[] {
  const frames: string[] = [];
  let frame = '';
  const reader = new FrameReader(format, {
    onHead: (head) => {
      frame = `${head.toString('hex')}:`;
    },
    onPayload: (piece) => {
      frame += piece.toString('hex');
    },
    onEnd: () => frames.push(frame),
  });
  for (const piece of pieces) reader.read(piece);
  assert.equal(reader.neededBytes, 0);
  return frames;
}

const samples: Record<string, [FrameFormat, Buffer[]]> = {
  'of SPDY': [
    spdyFormat,
    [
      synStream(1, formatHeaderBlock({ streamtype: 'error' }, true)),
      Buffer.concat([dataHead(1, 5), Buffer.from('hello')]),
      dataHead(1, 0, true),
      controlFrame(6, Buffer.from([0, 0, 0, 1])),
      Buffer.concat([dataHead(3, 300), Buffer.alloc(300, 7)]),
    ],
  ],
  'of WebSocket': [
    webSocketFormat,
    [
      Buffer.from([0x82, 3, 1, 2, 3]),
      Buffer.from([0x88, 0]),
      Buffer.from([0x82, 126, 1, 0, ...Buffer.alloc(256, 1)]),
      Buffer.from([0x82, 0x82, 1, 2, 3, 4, 5, 6]), // masked
      Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 0, 0, 2, 9, 9]),
    ],
  ],
};

describe('frames', () => {
  for (const [name, [format, frames]] of Object.entries(samples))
    test(`${name} are the same however their bytes are cut`, () =>
      withSeed((random) => {
        const bytes = Buffer.concat(frames);
        const wanted = framesIn(format, frames);
        assert.equal(wanted.length, frames.length);
        for (let round = 0; round < 200; round += 1) {
          const pieces: Buffer[] = [];
          for (let at = 0; at < bytes.length; ) {
            const end = at + 1 + below(round % 2 === 0 ? 4 : 200, random);
            pieces.push(bytes.subarray(at, end));
            at = end;
          }
          assert.deepEqual(framesIn(format, pieces), wanted);
        }
      }));

  test('that are none end the reading', () => {
    assert.throws(() => framesIn(spdyFormat, [Buffer.from('8002000100000000', 'hex')]), FrameError);
    assert.throws(
      () => framesIn(webSocketFormat, [Buffer.from([0x82, 127, ...Buffer.alloc(8, 255)])]),
      FrameError,
    );
  });
});

describe('headers of SPDY', () => {
  test('are read as they were written, block by block', async () => {
    const reader = new HeaderReader();
    const error = await reader.read(formatHeaderBlock({ streamtype: 'error', port: '80' }, true));
    assert.deepEqual(
      [...error],
      [
        ['streamtype', 'error'],
        ['port', '80'],
      ],
    );
    assert.deepEqual([...(await reader.read(formatHeaderBlock({ a: '' }, false)))], [['a', '']]);
    reader.close();
  });

  test('are read deflated, with the dictionary of both sides', async () => {
    const raw = Buffer.from('000000010000000473746174000000026f6b', 'hex');
    const reader = new HeaderReader();
    assert.deepEqual([...(await reader.read(deflateSync(raw, { dictionary })))], [['stat', 'ok']]);
    reader.close();
  });

  test('are refused where few bytes make many, or are none', async () => {
    const bomb = deflateSync(Buffer.alloc(64 * 1024 * 1024), { dictionary });
    const reader = new HeaderReader();
    await assert.rejects(reader.read(bomb.subarray(0, 60_000)));
    await assert.rejects(reader.read(bomb.subarray(60_000)));
    const other = new HeaderReader();
    await assert.rejects(other.read(Buffer.from('no zlib')));
    for (const hex of ['', '00000001', '0000000100000009', '0000000100000001', 'ffffffff0000000000000000'])
      assert.throws(() => parseHeaders(Buffer.from(hex, 'hex')), FrameError, hex);
  });
});

import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { WatchRequest, WatchResponse } from '../gen/rpc_pb.js';
import { WatchRequestSchema, WatchResponseSchema } from '../gen/rpc_pb.js';
import { EtcdError, toEtcdError } from './errors.ts';
import { encodeFrame, Frames } from './frames.ts';
import { GrpcError } from './grpc-error.ts';
import { createBrokenError, openGrpcStream, parseStatus } from './grpc-stream.ts';

/** A range of keys, in etcd's bytes. */
export interface KeyRange {
  readonly from: Uint8Array;
  /** The first key after the range. */
  readonly end: Uint8Array;
}

/** One stream with one watch on it. */
export interface WatchCall extends Disposable {
  /** Watches everything in `range` from revision `start` on, with previous states. To be called once. */
  begin(range: KeyRange, start: number): void;
  /** Requests progress: etcd responds with a message without events, unless the watch is behind. */
  askProgress(): void;
  /** Throws an EtcdError when the stream fails; ends when etcd ends it. To be iterated once; read as fast as it is taken. */
  readonly responses: AsyncIterable<WatchResponse>;
}

type Union = WatchRequest['requestUnion'];

/** Throws an EtcdError when the connection can take no call. */
export function openWatchCall(session: ClientHttp2Session, url: string): WatchCall {
  const stream = open(session, url);
  const send = (requestUnion: Union) => {
    if (stream.closed || stream.destroyed || stream.writableEnded) return;
    stream.write(encodeFrame(toBinary(WatchRequestSchema, create(WatchRequestSchema, { requestUnion }))));
  };
  return {
    begin({ from, end }, start) {
      const value = {
        key: from,
        rangeEnd: end,
        startRevision: BigInt(start),
        prevKv: true,
        fragment: true,
        progressNotify: true,
      };
      send(create(WatchRequestSchema, { requestUnion: { case: 'createRequest', value } }).requestUnion);
    },
    askProgress() {
      send(create(WatchRequestSchema, { requestUnion: { case: 'progressRequest', value: {} } }).requestUnion);
    },
    responses: read(stream, url),
    [Symbol.dispose]() {
      stream.close(constants.NGHTTP2_CANCEL);
    },
  };
}

function open(session: ClientHttp2Session, url: string): ClientHttp2Stream {
  try {
    const stream = openGrpcStream(session, '/etcdserverpb.Watch/Watch', null);
    stream.on('error', () => undefined); // the reader gets the error; after the end no reader is left
    return stream;
  } catch (error) {
    throw new EtcdError('away', `etcd at ${url} cannot be watched: the connection is closed`, {
      cause: error,
    });
  }
}

async function* read(stream: ClientHttp2Stream, url: string): AsyncGenerator<WatchResponse, void> {
  const frames = new Frames();
  let status: GrpcError | 'ok' | undefined;
  const learn = (headers: Parameters<typeof parseStatus>[0]) => {
    status ??= parseStatus(headers);
  };
  stream.on('response', learn);
  stream.on('trailers', learn);
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      for (const message of frames.take(piece)) yield fromBinary(WatchResponseSchema, message);
    }
  } catch (error) {
    throw toEtcdError(error instanceof GrpcError ? error : createBrokenError(stream, error), url);
  }
  if (status !== 'ok') throw toEtcdError(status ?? createBrokenError(stream), url);
}

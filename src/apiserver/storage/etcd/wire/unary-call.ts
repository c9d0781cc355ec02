import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { EtcdError, toEtcdError } from './errors.ts';
import { encodeFrame, Frames } from './frames.ts';
import { GrpcError, grpcCodes } from './grpc-error.ts';
import { createBrokenError, openGrpcStream, parseStatus, wasRefused } from './grpc-stream.ts';

export interface UnaryOptions {
  readonly deadlineMs: number;
  /** Gives up the call, whose outcome is then unknown. */
  readonly cancel?: AbortSignal | undefined;
}

/** One call and its answer; rejects with an EtcdError. `url` is for messages. */
export async function callUnary<I extends DescMessage, O extends DescMessage>(
  session: ClientHttp2Session,
  url: string,
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  { deadlineMs, cancel }: UnaryOptions,
): Promise<MessageShape<O>> {
  const message = toBinary(method.input, create(method.input, request));
  const stream = open(session, url, `/${method.parent.typeName}/${method.name}`, deadlineMs);
  const call = new Answer(stream);
  const timer = setTimeout(call.giveUp, deadlineMs, grpcCodes.DEADLINE_EXCEEDED, 'no answer in time');
  const abort = () => call.giveUp(grpcCodes.CANCELLED, 'given up');
  cancel?.addEventListener('abort', abort, { once: true });
  try {
    stream.end(encodeFrame(message));
    if (cancel?.aborted) abort();
    return fromBinary(method.output, await call.message);
  } catch (error) {
    if (wasRefused(stream))
      throw new EtcdError('away', `etcd at ${url} took no further call`, { cause: error });
    throw toEtcdError(error, url);
  } finally {
    clearTimeout(timer);
    cancel?.removeEventListener('abort', abort);
  }
}

function open(session: ClientHttp2Session, url: string, path: string, deadlineMs: number): ClientHttp2Stream {
  try {
    return openGrpcStream(session, path, deadlineMs);
  } catch (error) {
    throw new EtcdError('away', `the connection to etcd at ${url} is closed`, { cause: error });
  }
}

/** Collects the one message of an answer. */
class Answer {
  readonly #stream: ClientHttp2Stream;
  readonly #frames = new Frames();
  readonly #settled = Promise.withResolvers<Buffer>();
  #message: Buffer | undefined;
  #status: GrpcError | 'ok' | undefined;
  #isSettled = false;

  constructor(stream: ClientHttp2Stream) {
    this.#stream = stream;
    this.#settled.promise.catch(() => undefined); // it may reject before a caller awaits it
    stream.on('response', (headers) => {
      this.#status ??= parseStatus(headers);
    });
    stream.on('trailers', (headers) => {
      this.#status ??= parseStatus(headers);
    });
    stream.on('data', (piece: Buffer) => this.#take(piece));
    stream.on('end', () => this.#end());
    stream.on('error', (error) => this.#settled.reject(createBrokenError(stream, error)));
    stream.on('close', () => {
      if (!this.#isSettled) this.#settled.reject(createBrokenError(stream)); // creating an error is expensive
    });
  }

  get message(): Promise<Buffer> {
    return this.#settled.promise;
  }

  readonly giveUp = (code: number, why: string): void => {
    this.#settled.reject(new GrpcError(code, why));
    this.#stream.close(constants.NGHTTP2_CANCEL);
  };

  #take(piece: Buffer): void {
    try {
      this.#message = this.#frames.take(piece)[0] ?? this.#message;
    } catch (error) {
      this.#settled.reject(error);
      this.#stream.close(constants.NGHTTP2_CANCEL);
    }
  }

  #end(): void {
    this.#isSettled = true;
    if (this.#status instanceof GrpcError) this.#settled.reject(this.#status);
    else if (this.#status === 'ok' && this.#message !== undefined) this.#settled.resolve(this.#message);
    else this.#settled.reject(createBrokenError(this.#stream));
  }
}

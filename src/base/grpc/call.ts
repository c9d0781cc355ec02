import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { Client, ClientUnaryCall, requestCallback, ServiceError } from '@grpc/grpc-js';
import { Metadata } from '@grpc/grpc-js';
import { fromServiceError, GrpcError, grpcCodes } from './errors.ts';

export interface CallOptions {
  /** Milliseconds until both sides end the call; null: no deadline. */
  readonly deadlineMs: number | null;
  /** Ends the call, which then fails with code CANCELLED and `byCaller`. */
  readonly cancel?: AbortSignal | undefined;
  /** Ends it in the same way, with all others of its client. A signal that joins two costs more than the listeners of both. */
  readonly closing?: AbortSignal | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/**
 * One call of a service that protobuf-es describes, over grpc-js. Rejects with a GrpcError. A cancelled call settles at
 * once, although the server may still work on it.
 */
export function callUnary<I extends DescMessage, O extends DescMessage>(
  client: Client,
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  options: CallOptions,
): Promise<MessageShape<O>> {
  const { cancel, closing } = options;
  const isEnded = () => cancel?.aborted === true || closing?.aborted === true;
  if (isEnded()) return Promise.reject(createCancelledError());
  const { promise, resolve, reject } = Promise.withResolvers<MessageShape<O>>();
  try {
    const call = send(client, method, request, options, (error, response) => {
      cancel?.removeEventListener('abort', abort);
      closing?.removeEventListener('abort', abort);
      if (error) reject(fromServiceError(error, isEnded()));
      else if (response) resolve(response);
      else reject(new GrpcError(grpcCodes.INTERNAL, `${method.name}: an answer without a message`));
    });
    const abort = (): void => call.cancel();
    cancel?.addEventListener('abort', abort, { once: true });
    closing?.addEventListener('abort', abort, { once: true });
  } catch (error) {
    reject(createClosedError(method.name, error));
  }
  return promise;
}

function send<I extends DescMessage, O extends DescMessage>(
  client: Client,
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  { deadlineMs, metadata }: CallOptions,
  callback: requestCallback<MessageShape<O>>,
): ClientUnaryCall {
  return client.makeUnaryRequest<MessageShape<I>, MessageShape<O>>(
    pathOf(method),
    (message) => Buffer.from(toBinary(method.input, message)),
    (bytes) => fromBinary(method.output, bytes),
    create(method.input, request),
    headers(metadata),
    deadlineMs === null ? {} : { deadline: Date.now() + deadlineMs },
    callback,
  );
}

/**
 * A call with a stream of responses, which are read as fast as they are consumed. Ends when the server ends it; throws a
 * GrpcError when it fails. Leaving the loop, or `cancel`, ends the call.
 */
export async function* callStream<I extends DescMessage, O extends DescMessage>(
  client: Client,
  method: DescMethodServerStreaming<I, O>,
  request: MessageInitShape<I>,
  { deadlineMs, cancel, closing, metadata }: CallOptions,
): AsyncGenerator<MessageShape<O>, void, undefined> {
  const isEnded = () => cancel?.aborted === true || closing?.aborted === true;
  if (isEnded()) throw createCancelledError();
  const call = openStream();
  const abort = (): void => call.cancel();
  cancel?.addEventListener('abort', abort, { once: true });
  closing?.addEventListener('abort', abort, { once: true });
  try {
    for await (const bytes of call as AsyncIterable<Buffer>) yield read(bytes);
  } catch (error) {
    if (isServiceError(error)) throw fromServiceError(error, isEnded());
    throw error;
  } finally {
    cancel?.removeEventListener('abort', abort);
    closing?.removeEventListener('abort', abort);
    call.on('error', () => undefined); // nothing handles the error that the cancellation causes any more
    call.cancel();
  }

  function read(bytes: Buffer): MessageShape<O> {
    try {
      return fromBinary(method.output, bytes);
    } catch (cause) {
      throw new GrpcError(grpcCodes.INTERNAL, `${method.name}: a message that cannot be read`, { cause });
    }
  }

  function openStream() {
    try {
      return client.makeServerStreamRequest<MessageShape<I>, Buffer>(
        pathOf(method),
        (message) => Buffer.from(toBinary(method.input, message)),
        (bytes) => bytes, // decoded when consumed: many are read ahead, and bytes take far less memory
        create(method.input, request),
        headers(metadata),
        deadlineMs === null ? {} : { deadline: Date.now() + deadlineMs },
      );
    } catch (error) {
      throw createClosedError(method.name, error);
    }
  }
}

function pathOf(method: { parent: { typeName: string }; name: string }): string {
  return `/${method.parent.typeName}/${method.name}`;
}

function headers(metadata: Readonly<Record<string, string>> = {}): Metadata {
  const all = new Metadata();
  for (const [name, value] of Object.entries(metadata)) all.set(name, value);
  return all;
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'details' in error;
}

function createCancelledError(): GrpcError {
  return new GrpcError(grpcCodes.CANCELLED, 'given up before it began', { byCaller: true });
}

function createClosedError(name: string, cause: unknown): GrpcError {
  return new GrpcError(grpcCodes.UNAVAILABLE, `${name}: the connection is closed`, { cause });
}

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
  /** Milliseconds until the call is given up on both sides; null sends no deadline at all. */
  readonly deadlineMs: number | null;
  /** Gives the call up; it then fails with code CANCELLED and `byCaller`. */
  readonly cancel?: AbortSignal | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/**
 * One call of a service that protobuf-es describes, over grpc-js. Rejects with a GrpcError. A call that is given up
 * settles at once, although the server may still work on it.
 */
export function callUnary<I extends DescMessage, O extends DescMessage>(
  client: Client,
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  options: CallOptions,
): Promise<MessageShape<O>> {
  const { cancel } = options;
  if (cancel?.aborted) return Promise.reject(givenUp());
  const { promise, resolve, reject } = Promise.withResolvers<MessageShape<O>>();
  try {
    const call = send(client, method, request, options, (error, response) => {
      cancel?.removeEventListener('abort', abort);
      if (error) reject(fromServiceError(error, cancel?.aborted ?? false));
      else if (response) resolve(response);
      else reject(new GrpcError(grpcCodes.INTERNAL, `${method.name}: an answer without a message`));
    });
    const abort = (): void => call.cancel();
    cancel?.addEventListener('abort', abort, { once: true });
  } catch (error) {
    reject(closed(method.name, error));
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
 * A call that is answered by many messages, read as fast as they are taken. Ends when the server ends it; throws a
 * GrpcError when it fails. Leaving the loop, or `cancel`, ends the call.
 */
export async function* callStream<I extends DescMessage, O extends DescMessage>(
  client: Client,
  method: DescMethodServerStreaming<I, O>,
  request: MessageInitShape<I>,
  { deadlineMs, cancel, metadata }: CallOptions,
): AsyncGenerator<MessageShape<O>, void, undefined> {
  if (cancel?.aborted) throw givenUp();
  const call = openStream();
  const abort = (): void => call.cancel();
  cancel?.addEventListener('abort', abort, { once: true });
  try {
    for await (const bytes of call as AsyncIterable<Buffer>) yield read(bytes);
  } catch (error) {
    if (isServiceError(error)) throw fromServiceError(error, cancel?.aborted ?? false);
    throw error;
  } finally {
    cancel?.removeEventListener('abort', abort);
    call.on('error', () => undefined); // the one that follows from being cancelled has no reader any more
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
        (bytes) => bytes, // many are read ahead, and are far smaller so
        create(method.input, request),
        headers(metadata),
        deadlineMs === null ? {} : { deadline: Date.now() + deadlineMs },
      );
    } catch (error) {
      throw closed(method.name, error);
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

function givenUp(): GrpcError {
  return new GrpcError(grpcCodes.CANCELLED, 'given up before it began', { byCaller: true });
}

function closed(name: string, cause: unknown): GrpcError {
  return new GrpcError(grpcCodes.UNAVAILABLE, `${name}: the connection is closed`, { cause });
}

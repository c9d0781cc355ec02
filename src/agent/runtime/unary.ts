import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { Client, ClientUnaryCall, Metadata, requestCallback } from '@grpc/grpc-js';
import { fromServiceError, RuntimeError } from './errors.ts';

export interface UnaryCall<I extends DescMessage, O extends DescMessage> {
  method: DescMethodUnary<I, O>;
  request: MessageInitShape<I>;
  metadata: Metadata;
  /** Milliseconds until the call is given up on both sides; null sends no deadline at all. */
  deadlineMs: number | null;
  /** Cancels the call; it then fails with reason `cancelled`. */
  cancel?: AbortSignal;
}

/**
 * One call of a service that protobuf-es describes, over grpc-js. Rejects with a RuntimeError. A cancelled
 * call settles at once, although the server may still work on it.
 */
export function callUnary<I extends DescMessage, O extends DescMessage>(
  client: Client,
  parts: UnaryCall<I, O>,
): Promise<MessageShape<O>> {
  const { method, cancel } = parts;
  if (cancel?.aborted) return Promise.reject(new RuntimeError('cancelled', 'cancelled before it began'));
  const { promise, resolve, reject } = Promise.withResolvers<MessageShape<O>>();
  try {
    const call = send(client, parts, (error, response) => {
      cancel?.removeEventListener('abort', abort);
      if (error) reject(fromServiceError(error, cancel?.aborted ?? false));
      else if (response) resolve(response);
      else reject(new RuntimeError('failed', `${method.name}: an answer without a message`));
    });
    const abort = (): void => call.cancel();
    cancel?.addEventListener('abort', abort, { once: true });
  } catch (error) {
    reject(new RuntimeError('unavailable', `${method.name}: the connection is closed`, { cause: error }));
  }
  return promise;
}

function send<I extends DescMessage, O extends DescMessage>(
  client: Client,
  { method, request, metadata, deadlineMs }: UnaryCall<I, O>,
  callback: requestCallback<MessageShape<O>>,
): ClientUnaryCall {
  return client.makeUnaryRequest<MessageShape<I>, MessageShape<O>>(
    `/${method.parent.typeName}/${method.name}`,
    (message) => Buffer.from(toBinary(method.input, message)),
    (bytes) => fromBinary(method.output, bytes),
    create(method.input, request),
    metadata,
    deadlineMs === null ? {} : { deadline: Date.now() + deadlineMs },
    callback,
  );
}

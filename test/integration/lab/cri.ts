import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials, Metadata } from '@grpc/grpc-js';

/**
 * A container runtime's socket as the tests use it. It is not the agent's own client on purpose: a fault
 * there must not hide itself.
 */
export interface CriClient extends Disposable {
  /** One call with a deadline (default 30 s). Rejects with grpc-js's ServiceError. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    deadlineMs?: number,
  ): Promise<MessageShape<O>>;
}

export function connectCri(socket: string): CriClient {
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), {
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.max_reconnect_backoff_ms': 200,
    'grpc.use_local_subchannel_pool': 1,
  });
  return {
    call: (method, request, deadlineMs = 30_000) => unary(client, method, request, deadlineMs),
    [Symbol.dispose]: () => client.close(),
  };
}

function unary<I extends DescMessage, O extends DescMessage>(
  client: Client,
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  deadlineMs: number,
): Promise<MessageShape<O>> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest<MessageShape<I>, MessageShape<O>>(
      `/${method.parent.typeName}/${method.name}`,
      (message) => Buffer.from(toBinary(method.input, message)),
      (bytes) => fromBinary(method.output, bytes),
      create(method.input, request),
      new Metadata(),
      { deadline: Date.now() + deadlineMs },
      (error, response) => {
        if (response !== undefined && error === null) resolve(response);
        else reject(error ?? new Error(`${method.name} answered nothing`));
      },
    );
  });
}

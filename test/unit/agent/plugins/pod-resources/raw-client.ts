import { Client, credentials } from '@grpc/grpc-js';

/** A client that knows of the interface only what it is told: a path, and bytes. */
export interface RawClient extends Disposable {
  /** `method` as `/v1.PodResourcesLister/List`. Rejects with the ServiceError of grpc-js. */
  call(method: string, request?: Uint8Array): Promise<Buffer>;
}

export function openRawClient(socket: string): RawClient {
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': 16 * 1024 * 1024,
    'grpc.use_local_subchannel_pool': 1,
  });
  return {
    call(method, request = new Uint8Array()) {
      return new Promise((resolve, reject) => {
        client.makeUnaryRequest(
          method,
          (bytes: Uint8Array) => Buffer.from(bytes),
          (bytes) => bytes,
          request,
          { deadline: Date.now() + 10_000 },
          (error, answer) => (error === null && answer !== undefined ? resolve(answer) : reject(error)),
        );
      });
    },
    [Symbol.dispose]: () => client.close(),
  };
}

/** A field of a protobuf message: its number, and text, a message, or a number. */
export type WireField = readonly [number, string | Uint8Array | number];

/** Writes a message by field numbers alone, for what is short. */
export function wire(...fields: readonly WireField[]): Buffer {
  return Buffer.concat(
    fields.map(([number, value]) => {
      if (typeof value === 'number') return Buffer.from([number << 3, value]);
      const bytes = Buffer.from(value);
      return Buffer.concat([Buffer.from([(number << 3) | 2]), lengthOf(bytes), bytes]);
    }),
  );
}

function lengthOf({ length }: Uint8Array): Buffer {
  return length < 128 ? Buffer.from([length]) : Buffer.from([(length & 127) | 128, length >> 7]);
}

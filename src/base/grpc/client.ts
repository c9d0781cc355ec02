import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import type { CallOptions } from './call.ts';
import { callStream, callUnary } from './call.ts';
import { followConnection } from './connectivity.ts';
import { ownSockets } from './own-sockets.ts';
import { socketPathFault } from './unix-path.ts';

export interface UnixClientOptions {
  /** Of a message either way; default 4 MiB. Longer ones fail with RESOURCE_EXHAUSTED. */
  readonly maxMessageBytes?: number;
}

/** The way to one server on a unix socket. Connects when first called, and again when the server comes back. */
export interface UnixClient extends Disposable {
  /** One call; rejects with a GrpcError. */
  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options: CallOptions,
  ): Promise<MessageShape<O>>;
  /** One call answered by many messages; throws a GrpcError. */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    options: CallOptions,
  ): AsyncIterable<MessageShape<O>>;
  /** Keeps a connection and tells each time that it stands or stands no more, first how it is now; until disposed of. */
  follow(listener: (isConnected: boolean) => void): void;
}

const defaultMessageBytes = 4 * 1024 * 1024;

/**
 * Returns at once, whether or not somebody listens. Throws an Error for a path that no socket can have. Disposing ends
 * the calls under way, which fail with CANCELLED.
 */
export function openUnixClient(path: string, options: UnixClientOptions = {}): UnixClient {
  const fault = socketPathFault(path);
  if (fault !== undefined) throw new Error(`${path}: ${fault}`);
  const { maxMessageBytes = defaultMessageBytes } = options;
  const end = new AbortController();
  const insecure = credentials.createInsecure();
  const sockets = ownSockets(insecure);
  const client = new Client(`unix:${path}`, insecure, {
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.initial_reconnect_backoff_ms': 200,
    'grpc.max_reconnect_backoff_ms': 3000,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_http_proxy': 0,
    'grpc.client_idle_timeout_ms': 2 ** 31 - 1, // a connection that is followed ends only with its server
    'grpc.enable_retries': 0, // who calls decides what may be done twice
  });

  function bounded(call: CallOptions): CallOptions {
    const cancel = call.cancel === undefined ? end.signal : AbortSignal.any([call.cancel, end.signal]);
    return { ...call, cancel };
  }

  return {
    unary: (method, request, call) => callUnary(client, method, request, bounded(call)),
    stream: (method, request, call) => callStream(client, method, request, bounded(call)),
    follow: (listener) => followConnection(client, listener, end.signal),
    [Symbol.dispose]() {
      end.abort(); // a closed client lets calls under way run on, and with them the process
      client.close();
      setImmediate(() => sockets[Symbol.dispose]()); // by then the peer has been told
    },
  };
}

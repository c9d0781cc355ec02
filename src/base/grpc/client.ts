import type { Socket } from 'node:net';
import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import type { ChannelCredentials } from '@grpc/grpc-js';
import { Client, credentials } from '@grpc/grpc-js';
import type { CallOptions } from './call.ts';
import { callStream, callUnary } from './call.ts';
import { followConnection, untilConnected } from './connectivity.ts';
import { findSocketPathFault } from './unix-path.ts';

export interface UnixClientOptions {
  /** In either direction; default 4 MiB. Calls with a larger message fail with RESOURCE_EXHAUSTED. */
  readonly maxMessageBytes?: number;
}

/** A client of one server on a unix socket. Connects at the first call, and again when the server comes back. */
export interface UnixClient extends Disposable {
  /** One call; rejects with a GrpcError. */
  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options: CallOptions,
  ): Promise<MessageShape<O>>;
  /** One call with a stream of responses; throws a GrpcError. */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    options: CallOptions,
  ): AsyncIterable<MessageShape<O>>;
  /** Keeps a connection, and calls `listener` with its state now and whenever it is made or lost, until disposed of. */
  follow(listener: (isConnected: boolean) => void): void;
}

export interface TcpClientOptions extends UnixClientOptions {
  /** What the server learns of this program, before what grpc-js says of itself. */
  readonly userAgent?: string;
}

/** A client of one server at an address, without TLS. */
export interface TcpClient extends Pick<UnixClient, 'unary'>, Disposable {
  /** Tries to connect, again and again, until it has or `signal` aborts; resolves to which of both. */
  untilConnected(signal: AbortSignal): Promise<boolean>;
}

const defaultMessageBytes = 4 * 1024 * 1024;

/**
 * Returns at once, whether or not a server listens. Throws an Error for a path that no socket can have. Disposing ends the
 * calls under way, which fail with CANCELLED.
 */
export function openUnixClient(path: string, options: UnixClientOptions = {}): UnixClient {
  const fault = findSocketPathFault(path);
  if (fault !== undefined) throw new Error(`${path}: ${fault}`);
  const { client, signal, unary, dispose } = openClient(`unix:${path}`, options);
  return {
    unary,
    stream: (method, request, call) => callStream(client, method, request, { ...call, closing: signal }),
    follow: (listener) => followConnection(client, listener, signal),
    [Symbol.dispose]: dispose,
  };
}

/** `address`: an IP address, one of IPv6 in brackets, and the port. Otherwise as `openUnixClient`. */
export function openTcpClient(address: string, options: TcpClientOptions = {}): TcpClient {
  const scheme = address.startsWith('[') ? 'ipv6' : 'ipv4';
  const { client, unary, dispose } = openClient(`${scheme}:${address}`, options);
  return {
    unary,
    untilConnected: (signal) => untilConnected(client, signal),
    [Symbol.dispose]: dispose,
  };
}

interface OpenClient extends Pick<UnixClient, 'unary'> {
  readonly client: Client;
  /** Aborts when it is disposed of. */
  readonly signal: AbortSignal;
  dispose(): void;
}

function openClient(target: string, options: TcpClientOptions): OpenClient {
  const { maxMessageBytes = defaultMessageBytes, userAgent } = options;
  const end = new AbortController();
  const insecure = credentials.createInsecure();
  const sockets = trackSockets(insecure);
  const client = new Client(target, insecure, {
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.initial_reconnect_backoff_ms': 200,
    'grpc.max_reconnect_backoff_ms': 3000,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_http_proxy': 0,
    'grpc.client_idle_timeout_ms': 2 ** 31 - 1, // a followed connection ends only with its server
    'grpc.enable_retries': 0, // the caller decides what may be sent twice
    ...(userAgent === undefined ? {} : { 'grpc.primary_user_agent': userAgent }),
  });

  return {
    client,
    signal: end.signal,
    unary: (method, request, call) => callUnary(client, method, request, { ...call, closing: end.signal }),
    dispose() {
      end.abort(); // a closed client lets calls under way run on, and with them the process
      client.close();
      setImmediate(() => sockets[Symbol.dispose]()); // by then the peer has been notified
    },
  };
}

/** How long a peer may take from accepting a connection to its first byte, in milliseconds. */
const firstByteMs = 20_000;

/**
 * Tracks a client's connections, so that disposing of the result ends them: grpc-js leaves a connection open for good when
 * the peer has accepted it and never sends a byte, and opens another with each attempt. Such a connection is also ended
 * after 20 s. Changes the credentials passed.
 */
function trackSockets(credentials: ChannelCredentials): Disposable {
  const sockets = new Set<Socket>();
  const original = credentials._createSecureConnector.bind(credentials);
  credentials._createSecureConnector = (...args) => {
    const connector = original(...args);
    return {
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
      async connect(socket) {
        sockets.add(socket);
        const timer = setTimeout(() => {
          if (socket.bytesRead === 0) socket.destroy();
        }, firstByteMs).unref();
        socket.once('close', () => {
          sockets.delete(socket);
          clearTimeout(timer);
        });
        return await connector.connect(socket);
      },
    };
  };
  return {
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

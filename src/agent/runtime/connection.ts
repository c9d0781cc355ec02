import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import { callStream, callUnary, GrpcError } from '../../base/grpc/index.ts';
import { describeError } from '../../base/index.ts';
import { findExistingEndpoint, parseEndpoint } from './endpoint.ts';
import { fromGrpcError, RuntimeError } from './errors.ts';

/** As in the reference's agent: the list of all containers of a node comes in one message. */
const maxMessageBytes = 16 * 1024 * 1024;

const channelOptions = {
  'grpc.max_receive_message_length': maxMessageBytes,
  'grpc.max_send_message_length': maxMessageBytes,
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 3000,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  // A checkpoint request sent twice would freeze twice. No keepalive either: the runtimes' servers close connections that
  // ping more often than every five minutes.
  'grpc.enable_retries': 0,
  'grpc.enable_channelz': 0, // a record of each call, for a service that nobody here offers
} as const;

export interface CallOptions {
  /** Milliseconds; null sends no deadline. */
  deadlineMs: number | null;
  cancel?: AbortSignal;
  metadata?: Readonly<Record<string, string>>;
}

/**
 * A connection to one container runtime. It connects at the first call, and again by itself (200 ms to 3 s between
 * attempts) whenever the runtime comes back. Of several endpoints the first that exists is used, and chosen again after it
 * has gone.
 */
export interface Connection extends Disposable {
  /** The endpoint in use; undefined while none exists. */
  readonly endpoint: string | undefined;
  /** One call; rejects with a RuntimeError. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options: CallOptions,
  ): Promise<MessageShape<O>>;
  /** One call with many answers; throws a RuntimeError. Leaving the loop ends the call. */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    options: CallOptions,
  ): AsyncIterable<MessageShape<O>>;
}

export interface ConnectionOptions {
  /** Called with the path of the socket before each call; where it rejects, nothing is sent. */
  claim?: ((socket: string) => Promise<void>) | undefined;
}

/** Throws when an endpoint is malformed; does not connect yet. */
export function openConnection(endpoints: readonly string[], { claim }: ConnectionOptions = {}): Connection {
  const targets = new Map(endpoints.map((endpoint) => [endpoint, `unix:${parseEndpoint(endpoint)}`]));
  let current: { endpoint: string; client: Client } | undefined;
  const end = new AbortController();
  let closed = false;

  function drop(): void {
    current?.client.close();
    current = undefined;
  }

  /** Rejects with a RuntimeError. */
  async function claimFirst(endpoint: string): Promise<void> {
    try {
      await claim?.(parseEndpoint(endpoint));
    } catch (error) {
      throw new RuntimeError('unavailable', describeError(error), { cause: error });
    }
  }

  /** The client in use, or a new one to the first endpoint that exists. */
  async function connect(): Promise<Client> {
    if (current) await claimFirst(current.endpoint);
    if (!current) {
      const only = endpoints.length === 1 ? endpoints[0] : undefined;
      const endpoint = only ?? findExistingEndpoint(endpoints);
      const target = endpoint === undefined ? undefined : targets.get(endpoint);
      if (endpoint === undefined || target === undefined) throw createAbsentError(endpoints);
      await claimFirst(endpoint);
      if (closed) throw new RuntimeError('unavailable', 'the connection to the container runtime is closed');
      // another call may have connected while this one claimed the socket
      current ??= { endpoint, client: new Client(target, credentials.createInsecure(), channelOptions) };
    }
    return current.client;
  }

  /** With several endpoints to choose from, one that vanished must not be waited for. */
  function forgetIfGone(client: Client): void {
    if (current?.client !== client || endpoints.length === 1) return;
    if (findExistingEndpoint([current.endpoint]) === undefined) drop();
  }

  /** The error to throw for one of the call below. */
  function toRuntimeError(error: unknown, client: Client): unknown {
    const failure = error instanceof GrpcError ? fromGrpcError(error) : error;
    if (failure instanceof RuntimeError && failure.reason === 'unavailable') forgetIfGone(client);
    return failure;
  }

  return {
    get endpoint() {
      return current?.endpoint;
    },
    async *stream(method, request, { deadlineMs, cancel, metadata }) {
      if (closed) throw new RuntimeError('unavailable', 'the connection to the container runtime is closed');
      const client = await connect();
      try {
        yield* callStream(client, method, request, { deadlineMs, cancel, closing: end.signal, metadata });
      } catch (error) {
        throw toRuntimeError(error, client);
      }
    },
    async call(method, request, { deadlineMs, cancel, metadata }) {
      if (closed) throw new RuntimeError('unavailable', 'the connection to the container runtime is closed');
      const client = await connect();
      try {
        return await callUnary(client, method, request, {
          deadlineMs,
          cancel,
          closing: end.signal,
          metadata,
        });
      } catch (error) {
        throw toRuntimeError(error, client);
      }
    },
    [Symbol.dispose]() {
      closed = true;
      end.abort(); // a closed client lets calls under way run on, and with them the process
      drop();
    },
  };
}

function createAbsentError(endpoints: readonly string[]): RuntimeError {
  const names = endpoints.join(', ');
  return new RuntimeError('unavailable', `no container runtime found: none of ${names} exists`);
}

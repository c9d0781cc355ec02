import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import { callUnary, GrpcError } from '../../base/grpc/index.ts';
import { firstExisting, socketPath } from './endpoint.ts';
import { fromGrpcError, RuntimeError } from './errors.ts';

/** As much as the reference's agent takes: a node's whole list of containers in one message. */
const messageLimitBytes = 16 * 1024 * 1024;

const channelOptions = {
  'grpc.max_receive_message_length': messageLimitBytes,
  'grpc.max_send_message_length': messageLimitBytes,
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 3000,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  // A checkpoint that was sent twice would freeze twice. No keepalive either: the runtimes' servers close
  // connections that ping more often than every five minutes.
  'grpc.enable_retries': 0,
} as const;

export interface CallOptions {
  /** Milliseconds; null sends no deadline. */
  deadlineMs: number | null;
  cancel?: AbortSignal;
  metadata?: Readonly<Record<string, string>>;
}

/**
 * The way to one container runtime. Connects when first called and again by itself (200 ms to 3 s between
 * tries) whenever the runtime comes back. With a list of endpoints the first that exists is taken, and looked
 * for again after it has gone.
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
}

/** Throws when an endpoint is malformed; does not connect yet. */
export function openConnection(endpoints: readonly string[]): Connection {
  const targets = new Map(endpoints.map((endpoint) => [endpoint, `unix:${socketPath(endpoint)}`]));
  let current: { endpoint: string; client: Client } | undefined;
  const end = new AbortController();
  let closed = false;

  function drop(): void {
    current?.client.close();
    current = undefined;
  }

  /** The client in use, or a new one to the first endpoint that exists. */
  async function connect(): Promise<Client> {
    if (!current) {
      const only = endpoints.length === 1 ? endpoints[0] : undefined;
      const endpoint = only ?? (await firstExisting(endpoints));
      const target = endpoint === undefined ? undefined : targets.get(endpoint);
      if (endpoint === undefined || target === undefined) throw absent(endpoints);
      if (closed) throw new RuntimeError('unavailable', 'the connection to the container runtime is closed');
      // Somebody else may have connected while this one looked for the socket.
      current ??= { endpoint, client: new Client(target, credentials.createInsecure(), channelOptions) };
    }
    return current.client;
  }

  /** With several endpoints to choose from, one that vanished must not be waited for. */
  async function forgetIfGone(client: Client): Promise<void> {
    if (current?.client !== client || endpoints.length === 1) return;
    const found = await firstExisting([current.endpoint]);
    if (found === undefined && current?.client === client) drop();
  }

  return {
    get endpoint() {
      return current?.endpoint;
    },
    async call(method, request, { deadlineMs, cancel, metadata }) {
      if (closed) throw new RuntimeError('unavailable', 'the connection to the container runtime is closed');
      const client = await connect();
      const ended = cancel === undefined ? end.signal : AbortSignal.any([cancel, end.signal]);
      try {
        return await callUnary(client, method, request, { deadlineMs, cancel: ended, metadata });
      } catch (error) {
        const failure = error instanceof GrpcError ? fromGrpcError(error) : error;
        if (failure instanceof RuntimeError && failure.reason === 'unavailable') await forgetIfGone(client);
        throw failure;
      }
    },
    [Symbol.dispose]() {
      closed = true;
      end.abort(); // a closed client lets calls under way run on, and with them the process
      drop();
    },
  };
}

function absent(endpoints: readonly string[]): RuntimeError {
  const names = endpoints.join(', ');
  return new RuntimeError('unavailable', `no container runtime found: none of ${names} exists`);
}

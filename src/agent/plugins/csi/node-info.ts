import type { UnixClient } from '../../../base/grpc/index.ts';
import { GrpcError, grpcCodes, openUnixClient } from '../../../base/grpc/index.ts';
import type { Clock } from '../../../base/index.ts';
import { createBackoff } from '../../../base/index.ts';
import { checkedNodeInfo } from './check.ts';
import { Node } from './gen/csi_pb.js';
import type { NodeInfo } from './types.ts';

export interface NodeInfoOptions {
  /** Absolute path of the socket that serves csi.v1.Node. */
  readonly endpoint: string;
  readonly clock: Clock;
  /** For all tries together; default 2 minutes, as the reference. */
  readonly withinMs?: number;
  /** For one try; default 15 s. */
  readonly callMs?: number;
  /** Told after each try that failed and is followed by another. */
  readonly onFailure?: (problem: string) => void;
  /** A number in [0, 1); default Math.random. */
  readonly random?: () => number;
}

/** An answer is an id and some labels. */
const maxMessageBytes = 256 * 1024;

/**
 * Asks a driver for what the cluster must know of this node, again after 250 ms to 15 s while it cannot be reached or fails.
 * Rejects with an Error that says what it answered last, or at once where asking again is of no use: it has no such method,
 * or what it says cannot be used.
 */
export async function askNodeInfo(options: NodeInfoOptions, signal: AbortSignal): Promise<NodeInfo> {
  const { clock, withinMs = 120_000, callMs = 15_000, random = Math.random } = options;
  using client = openUnixClient(options.endpoint, { maxMessageBytes });
  const backoff = createBackoff({ initialMs: 250, maxMs: 15_000, jitter: 0.2, random });
  const endMs = clock.monotonicMs() + withinMs;
  for (;;) {
    const leftMs = Math.max(1, endMs - clock.monotonicMs());
    try {
      return await askOnce(client, Math.min(callMs, leftMs), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof GrpcError)) throw error;
      const problem = problemOf(error, Math.min(callMs, leftMs));
      const waitMs = backoff.next();
      const isLast = clock.monotonicMs() + waitMs >= endMs;
      if (isLast || error.code === grpcCodes.UNIMPLEMENTED) throw new Error(problem, { cause: error });
      options.onFailure?.(problem);
      await clock.sleep(waitMs, signal);
    }
  }
}

async function askOnce(client: UnixClient, deadlineMs: number, cancel: AbortSignal): Promise<NodeInfo> {
  return checkedNodeInfo(await client.unary(Node.method.nodeGetInfo, {}, { deadlineMs, cancel }));
}

function problemOf({ code, message }: GrpcError, deadlineMs: number): string {
  if (code === grpcCodes.DEADLINE_EXCEEDED)
    return `NodeGetInfo: no answer within ${Math.round(deadlineMs / 1000)} s`;
  return `NodeGetInfo: ${message}`;
}

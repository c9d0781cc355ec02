import type { UnixClient } from '../../../base/grpc/index.ts';
import { GrpcError, grpcCodes, openUnixClient } from '../../../base/grpc/index.ts';
import type { Clock } from '../../../base/index.ts';
import { createBackoff } from '../../../base/index.ts';
import { checkNodeInfo } from './check.ts';
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
  /** Called after each failed try that is followed by another. */
  readonly onFailure?: (problem: string) => void;
  /** A number in [0, 1); default Math.random. */
  readonly random?: () => number;
}

/** A response has an id and some labels. */
const maxMessageBytes = 256 * 1024;

/**
 * Calls NodeGetInfo of a driver, again after 250 ms to 15 s while it cannot be reached or fails. Rejects with an Error about
 * its last response; at once when another try is of no use, because it has no such method or its response is unusable.
 */
export async function fetchNodeInfo(options: NodeInfoOptions, signal: AbortSignal): Promise<NodeInfo> {
  const { clock, withinMs = 120_000, callMs = 15_000, random = Math.random } = options;
  using client = openUnixClient(options.endpoint, { maxMessageBytes });
  const backoff = createBackoff({ initialMs: 250, maxMs: 15_000, jitter: 0.2, random });
  const endMs = clock.monotonicMs() + withinMs;
  for (;;) {
    const leftMs = Math.max(1, endMs - clock.monotonicMs());
    try {
      return await fetchOnce(client, Math.min(callMs, leftMs), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof GrpcError)) throw error;
      const problem = describeProblem(error, Math.min(callMs, leftMs));
      const waitMs = backoff.next();
      const isLast = clock.monotonicMs() + waitMs >= endMs;
      if (isLast || error.code === grpcCodes.UNIMPLEMENTED) throw new Error(problem, { cause: error });
      options.onFailure?.(problem);
      await clock.sleep(waitMs, signal);
    }
  }
}

async function fetchOnce(client: UnixClient, deadlineMs: number, cancel: AbortSignal): Promise<NodeInfo> {
  return checkNodeInfo(await client.unary(Node.method.nodeGetInfo, {}, { deadlineMs, cancel }));
}

function describeProblem({ code, message }: GrpcError, deadlineMs: number): string {
  if (code === grpcCodes.DEADLINE_EXCEEDED)
    return `NodeGetInfo: no answer within ${Math.round(deadlineMs / 1000)} s`;
  return `NodeGetInfo: ${message}`;
}

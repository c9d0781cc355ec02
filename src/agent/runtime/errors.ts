import type { GrpcError } from '../../base/grpc/index.ts';
import { grpcCodes } from '../../base/grpc/index.ts';
import { ReasonError } from '../../base/index.ts';

/**
 * Why the container runtime did not do what it was asked for.
 * - `unimplemented`: it does not know this call.
 * - `unavailable`: it cannot be reached, or went away during the call.
 * - `timeout`: it did not answer in time.
 * - `notFound`: it does not know the container.
 * - `cancelled`: the caller gave up.
 * - `failed`: it tried and failed; the message is its own.
 * - `stillFrozen`: whatever else happened, the container could not be proven to run again.
 */
export type RuntimeFailure =
  | 'unimplemented'
  | 'unavailable'
  | 'timeout'
  | 'notFound'
  | 'cancelled'
  | 'failed'
  | 'stillFrozen';

/** The error of this module: programs branch on `reason`, people read `message`. */
export class RuntimeError extends ReasonError<RuntimeFailure> {
  override readonly name = 'RuntimeError';
}

const reasons: ReadonlyMap<number, RuntimeFailure> = new Map([
  [grpcCodes.UNIMPLEMENTED, 'unimplemented'],
  [grpcCodes.UNAVAILABLE, 'unavailable'],
  [grpcCodes.CANCELLED, 'unavailable'], // not by this side: a runtime that is being stopped cancels its calls
  [grpcCodes.DEADLINE_EXCEEDED, 'timeout'],
  [grpcCodes.NOT_FOUND, 'notFound'],
]);

/** Converts the error of a failed call. */
export function fromGrpcError(error: GrpcError): RuntimeError {
  const reason = error.byCaller ? 'cancelled' : (reasons.get(error.code) ?? 'failed');
  return new RuntimeError(reason, explainRefusal(error.message), { cause: error });
}

/** The socket of a runtime is for root: the words of a connection that was refused do not say so. */
function explainRefusal(message: string): string {
  const [, socket] = /\bconnect E(?:ACCES|PERM) (\S+)/.exec(message) ?? [];
  return socket === undefined ? message : `this user may not use ${socket}: run nodeward as root`;
}

import type { ServiceError } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';

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

/** The one error of this module; branch on `reason`, show `message`. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  readonly reason: RuntimeFailure;

  constructor(reason: RuntimeFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

const reasons: ReadonlyMap<number, RuntimeFailure> = new Map([
  [status.UNIMPLEMENTED, 'unimplemented'],
  [status.UNAVAILABLE, 'unavailable'],
  [status.CANCELLED, 'unavailable'], // not by us: a runtime that is being stopped drops its calls so
  [status.DEADLINE_EXCEEDED, 'timeout'],
  [status.NOT_FOUND, 'notFound'],
]);

/** A runtime may put a whole log of criu into its message. */
const messageLimit = 2048;

/** What a failed call means; `cancelled` says that this side gave the call up. */
export function fromServiceError(error: ServiceError, cancelled: boolean): RuntimeError {
  const reason = cancelled ? 'cancelled' : (reasons.get(error.code) ?? 'failed');
  const told = error.details.replace(/\. Resolution note:\s*$/, ''); // an empty remark of grpc-js
  const details = told === '' ? `no message, gRPC code ${error.code}` : told;
  const message = details.length > messageLimit ? `${details.slice(0, messageLimit)}…` : details;
  return new RuntimeError(reason, message, { cause: error });
}

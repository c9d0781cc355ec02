import type { ServiceError } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';

/** The status codes of gRPC by name, such as `grpcCodes.UNAVAILABLE`. */
export const grpcCodes: Readonly<typeof status> = status;

/** In characters; a peer may put a whole log into its message. */
const maxMessageLength = 2048;

/**
 * Why a call failed; a handler throws it to fail a call. `message` is the peer's own, cut at 2 KiB; code that prints it
 * should name the peer. `byCaller`: this side ended the call by its signal.
 */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly code: number;
  readonly byCaller: boolean;

  constructor(code: number, message: string, options: ErrorOptions & { byCaller?: boolean } = {}) {
    super(message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message, options);
    this.code = code;
    this.byCaller = options.byCaller ?? false;
  }
}

/** What grpc-js appends to the reason why it cannot connect: a time, which makes every message differ, and an empty note. */
const remarks = /( \(\d{4}-\d\d-\d\dT[\d:.]+Z\))?(\. Resolution note:\s*)?$/;

export function fromServiceError(error: ServiceError, byCaller: boolean): GrpcError {
  const details = error.details.replace(remarks, '');
  const message = details === '' ? `no message, gRPC code ${error.code}` : details;
  return new GrpcError(error.code, message, { byCaller }); // the cause says the same, in other words
}

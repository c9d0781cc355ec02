import type { ServiceError } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';

/** The status codes of gRPC by name, such as `grpcCodes.UNAVAILABLE`. */
export const grpcCodes: Readonly<typeof status> = status;

/** A peer may put a whole log into its message. */
const messageLimit = 2048;

/**
 * Why a call failed, or how a handler answers that it does. `message` is the peer's own, cut at 2 KiB; who shows it
 * says whose it is. `byCaller` tells that this side gave the call up by its signal.
 */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly code: number;
  readonly byCaller: boolean;

  constructor(code: number, message: string, options: ErrorOptions & { byCaller?: boolean } = {}) {
    super(message.length > messageLimit ? `${message.slice(0, messageLimit)}…` : message, options);
    this.code = code;
    this.byCaller = options.byCaller ?? false;
  }
}

/** What grpc-js adds behind the reason why it cannot connect: a time, so that no two are the same, and an empty remark. */
const remarks = /( \(\d{4}-\d\d-\d\dT[\d:.]+Z\))?(\. Resolution note:\s*)?$/;

export function fromServiceError(error: ServiceError, byCaller: boolean): GrpcError {
  const told = error.details.replace(remarks, '');
  const message = told === '' ? `no message, gRPC code ${error.code}` : told;
  return new GrpcError(error.code, message, { byCaller }); // the cause says the same, in other words
}

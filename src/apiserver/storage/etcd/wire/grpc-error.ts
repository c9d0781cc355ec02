/** The status codes of gRPC that a store has to do with. */
export const grpcCodes = {
  CANCELLED: 1,
  UNKNOWN: 2,
  DEADLINE_EXCEEDED: 4,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  ABORTED: 10,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/** A peer may put a whole log into its message. */
const messageLimit = 2_048;

/** Why a call failed, in gRPC's terms; `message` is the peer's own, cut at 2 KiB. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly code: number;

  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message.length > messageLimit ? `${message.slice(0, messageLimit)}…` : message, options);
    this.code = code;
  }
}

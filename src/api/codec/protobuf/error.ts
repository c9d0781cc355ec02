/** Bytes that are no message of the kind, or a value that has no place in one. Answered with 400. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
  /** Where, as in `spec.taints[0].key`; empty when it is the message itself. */
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(path === '' ? reason : `${path}: ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}

/**
 * The same error one level further up. The wire reader throws plain errors and, where text is no UTF-8, the decoder
 * a TypeError with a code; any other error is a defect here and goes through as it is.
 */
export function errorAt(step: string, error: unknown): unknown {
  if (error instanceof ProtobufError) return new ProtobufError(joined(step, error.path), error.reason);
  if (!(error instanceof Error)) return error;
  if ('code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return new ProtobufError(step, 'invalid UTF-8');
  const ofReader = error.constructor === Error || error instanceof RangeError;
  return ofReader ? new ProtobufError(step, error.message) : error;
}

function joined(step: string, path: string): string {
  if (step === '' || path === '') return `${step}${path}`;
  return path.startsWith('[') ? `${step}${path}` : `${step}.${path}`;
}

/** Bytes that are not a message of the kind, or a value that does not fit its type. The answer is 400. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
  /** The path of the field, such as `spec.taints[0].key`; empty for the message itself. */
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(path === '' ? reason : `${path}: ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}

/**
 * The same error with `step` in front of its path. The wire reader throws plain errors and, where text is not UTF-8, the
 * decoder a TypeError with a code; any other error is a defect of this program and is returned as it is.
 */
export function errorAt(step: string, error: unknown): unknown {
  if (error instanceof ProtobufError) return new ProtobufError(joinPaths(step, error.path), error.reason);
  if (!(error instanceof Error)) return error;
  if ('code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return new ProtobufError(step, 'invalid UTF-8');
  const isFromReader = error.constructor === Error || error instanceof RangeError;
  return isFromReader ? new ProtobufError(step, error.message) : error;
}

function joinPaths(step: string, path: string): string {
  if (step === '' || path === '') return `${step}${path}`;
  return path.startsWith('[') ? `${step}${path}` : `${step}.${path}`;
}

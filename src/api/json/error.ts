/** A body that is not valid JSON, is nested too deeply, or has a key that is not accepted. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
}

/** A body that is no JSON, or nested too deeply. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
}

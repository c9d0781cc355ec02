import type { EncodedBody } from '../../src/api/index.ts';

/** JSON text as the body of a request. */
export function jsonBody(text: string): EncodedBody {
  return { encoding: 'json', bytes: Buffer.from(text) };
}

import { UnusualJson } from '../../../json/index.ts';
import type { StructType } from '../../../schema/index.ts';
import { errorAt, ProtobufError } from '../error.ts';
import { compileObject } from './compile.ts';
import type { Conversion } from './conversion.ts';
import { Parts } from './parts.ts';

/**
 * Writes the message of an object from the JSON that the server has made of it, without parsing it: into a buffer from
 * `from` on, with a resourceVersion that the JSON does not have (0: none). Returns where it ends; when that is beyond the
 * end of the buffer, it did not fit and must be written into a larger one. Undefined: the JSON is not as the server
 * writes it, or does not fit its description, so it must be parsed.
 */
export type ConvertJson = (
  json: Uint8Array,
  revision: number,
  into: Uint8Array,
  from: number,
) => number | undefined;

/** Room that every conversion uses from its beginning to its end; none waits for anything in between. */
const parts = new Parts();
const known = new WeakMap<StructType, ConvertJson>();

/** Compiles the description of an object, once; what it writes is what `encodeMessage` does. */
export function jsonConverter(type: StructType): ConvertJson {
  const convert = known.get(type) ?? createConverter(type);
  known.set(type, convert);
  return convert;
}

function createConverter(type: StructType): ConvertJson {
  const copy = compileObject(type);
  return (json, revision, bytes, from) => {
    const conversion: Conversion = { json, at: 0, bytes, end: from, revision, isRevisionDue: false, parts };
    parts.count = 0;
    try {
      copy(conversion);
    } catch (error) {
      // the parser and encoder report the error with its path
      if (error instanceof UnusualJson || errorAt('', error) instanceof ProtobufError) return undefined;
      throw error;
    }
    return conversion.at === json.length ? conversion.end : undefined;
  };
}

export { closeLength, type Output, sizeOfVarint, writeVarint } from './conversion.ts';

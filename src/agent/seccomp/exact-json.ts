import { JsonError, parseJson } from '../../api/json/index.ts';

/** A number as it is written in the file: syscall arguments have 64 bits, numbers from JSON.parse only 53. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  /** Undefined unless it is a whole number of 0 or more, written in digits: runtimes refuse `1.0`, `1e3` and `-0`. */
  get unsigned(): bigint | undefined {
    return /^\d{1,40}$/.test(this.source) ? BigInt(this.source) : undefined;
  }
}

export type ReadJson =
  | { readonly value: unknown; readonly duplicates: readonly string[] }
  | { readonly problem: string };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads JSON with every number as an ExactNumber; never throws. */
export function readExactJson(bytes: Uint8Array): ReadJson {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { problem: 'it is not UTF-8' };
  }
  if (text.startsWith('\uFEFF'))
    return { problem: 'it begins with a byte order mark, which no runtime takes' };
  if (text.trim() === '') return { problem: 'it is empty' };
  try {
    const { duplicates } = parseJson(text);
    return { value: JSON.parse(text, keepSource), duplicates };
  } catch (error) {
    if (error instanceof JsonError || error instanceof SyntaxError)
      return { problem: `it is not JSON: ${error.message}` };
    throw error;
  }
}

function keepSource(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? new ExactNumber(context?.source ?? String(value)) : value;
}

import { ExitError, exitCodes, readRegularFile } from '../../base/index.ts';
import type { CommandContext } from './context.ts';

/** Reads a file, or with `-` standard input. Throws an ExitError if standard input has more than `maxBytes`. */
export async function readInput(
  file: string,
  maxBytes: number,
  { stdin }: CommandContext,
): Promise<Uint8Array> {
  if (file !== '-') return await readRegularFile(file, { limitBytes: maxBytes });
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of toBytes(stdin ?? [])) {
    size += part.length;
    if (size > maxBytes)
      throw new ExitError(exitCodes.failed, `standard input has more than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Standard input as bytes, whatever the stream yields. */
export async function* toBytes(
  chunks: AsyncIterable<Uint8Array | string> | Iterable<never>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

/** The name of an input for messages. */
export const inputName = (file: string): string => (file === '-' ? 'standard input' : file);

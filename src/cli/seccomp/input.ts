import { ExitError, exitCodes, readRegularFile } from '../../base/index.ts';
import type { CommandContext } from '../context.ts';

/** Reads a file, or with `-` what is piped in; throws an ExitError for what is longer than `limitBytes`. */
export async function readInput(
  file: string,
  limitBytes: number,
  { stdin }: CommandContext,
): Promise<Uint8Array> {
  if (file !== '-') return await readRegularFile(file, { limitBytes });
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stdin ?? []) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > limitBytes)
      throw new ExitError(exitCodes.failed, `standard input has more than ${limitBytes} bytes`);
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

export const inputName = (file: string): string => (file === '-' ? 'standard input' : file);

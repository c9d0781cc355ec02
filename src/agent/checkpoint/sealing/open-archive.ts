import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { describeError } from '../../../base/index.ts';
import { createFileStream } from './file-stream.ts';

/** A sealed archive that was not opened; `message` says why and may be shown to people as it is. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

interface OpenOptions {
  /** `AGE-SECRET-KEY-1…`; one that matches is enough. */
  readonly identities: readonly string[];
  /** Takes the plain bytes in order. They must not be used before openArchive has resolved. */
  write(piece: Uint8Array): Promise<void>;
  /** Called with the number of bytes of the sealed file that have been read. */
  progress?: (bytes: number) => void;
  readonly cancel?: AbortSignal;
}

/** The plain archive that was in a sealed one. */
export interface OpenedArchive {
  /** Digest of the plain archive, in hexadecimal digits. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** Opens a sealed file in bounded memory. Rejects with a SealError when it is not sealed, damaged, cut off, or for other recipients. */
export async function openArchive(
  sealed: FileHandle,
  { identities, write, progress, cancel }: OpenOptions,
): Promise<OpenedArchive> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of identities) await addIdentity(decrypter, identity);
  if (!(await isSealed(sealed))) throw new SealError('it is not sealed in the age format');
  const plain = await decrypter.decrypt(createFileStream(sealed, progress)).catch(throwHeaderError);
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const piece of readPlain(plain)) {
    cancel?.throwIfAborted();
    hash.update(piece);
    await write(piece);
    sizeBytes += piece.length;
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}

async function addIdentity(
  decrypter: { addIdentity(identity: string): void },
  identity: string,
): Promise<void> {
  try {
    decrypter.addIdentity(identity);
  } catch {
    throw new SealError('the identity is mistyped: its checksum is wrong');
  }
}

const magic = 'age-encryption.org/v1\n';

/** Whether a file begins as a sealed archive does. */
export async function isSealed(file: FileHandle): Promise<boolean> {
  const head = Buffer.alloc(magic.length);
  const { bytesRead } = await file.read(head, 0, head.length, 0);
  return bytesRead === head.length && head.toString('latin1') === magic;
}

/** Turns errors of the stream into a SealError for damage. Errors of the consumer are not damage and pass unchanged. */
async function* readPlain(plain: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = plain.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown): never => {
        throw new SealError('it is damaged, cut off, or was changed', { cause });
      });
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function throwHeaderError(cause: unknown): never {
  const why = describeError(cause);
  if (why.includes('no identity matched')) {
    throw new SealError('it is sealed for others: no identity fits', { cause });
  }
  throw new SealError(`its header is damaged or cut off (${why})`, { cause });
}

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { createFileStream } from './file-stream.ts';

export interface SealRequest {
  /** Path of the plain file. */
  readonly from: string;
  /** Path of the sealed file, which must not exist yet; created with mode 0600. */
  readonly to: string;
  readonly recipients: readonly string[];
}

export interface SealedFile {
  /** Digest of the sealed file, in hexadecimal digits. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** Writes the sealed file, durably. When this rejects, the caller must remove the file. */
export async function writeSealedFile({ from, to, recipients }: SealRequest): Promise<SealedFile> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  const reading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using plain = await open(from, reading);
  await using sealed = await open(to, 'wx', 0o600);
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const piece of await encrypter.encrypt(createFileStream(plain))) {
    hash.update(piece);
    await sealed.writeFile(piece);
    sizeBytes += piece.length;
  }
  await sealed.sync();
  return { sha256: hash.digest('hex'), sizeBytes };
}

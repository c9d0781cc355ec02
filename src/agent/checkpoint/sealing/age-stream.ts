import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { streamOf } from './file-stream.ts';

export interface SealOrder {
  /** The plain file. */
  readonly from: string;
  /** The sealed one, which must not be there yet; made with mode 0600. */
  readonly to: string;
  readonly recipients: readonly string[];
}

/** What is known of a sealed file. */
export interface SealedFile {
  /** Of the sealed file, in hexadecimal digits. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** Writes the sealed file, durably. Whoever calls removes what is there when this fails. */
export async function seal({ from, to, recipients }: SealOrder): Promise<SealedFile> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  const reading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using plain = await open(from, reading);
  await using sealed = await open(to, 'wx', 0o600);
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const piece of await encrypter.encrypt(streamOf(plain))) {
    hash.update(piece);
    await sealed.writeFile(piece);
    sizeBytes += piece.length;
  }
  await sealed.sync();
  return { sha256: hash.digest('hex'), sizeBytes };
}

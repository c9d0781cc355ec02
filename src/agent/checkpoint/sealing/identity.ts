import { readRegularFile } from '../../../base/index.ts';

const maxFileBytes = 64 * 1024;

export interface KeyPair {
  /** `AGE-SECRET-KEY-1…`: opens archives that are sealed for the recipient. */
  readonly identity: string;
  /** `age1…` */
  readonly recipient: string;
}

export async function createKeyPair(): Promise<KeyPair> {
  const { generateX25519Identity, identityToRecipient } = await import('age-encryption');
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** The secret keys in a file as `age-keygen` writes it: one a line, `#` starts a comment. Rejects when there is none. */
export async function readIdentities(path: string): Promise<readonly string[]> {
  const text = (await readRegularFile(path, { limitBytes: maxFileBytes })).toString('utf8');
  const lines = text.split('\n').map((line) => line.trim());
  const found = lines.flatMap((line, index) => {
    if (line === '' || line.startsWith('#')) return [];
    // the error must not quote the line: it may be a mistyped secret
    if (!/^AGE-SECRET-KEY-1[A-Z0-9]+$/.test(line)) {
      throw new Error(`${path}:${index + 1}: this is no X25519 identity, which begins with AGE-SECRET-KEY-1`);
    }
    return [line];
  });
  if (found.length === 0) throw new Error(`${path} has no identity in it`);
  return found;
}

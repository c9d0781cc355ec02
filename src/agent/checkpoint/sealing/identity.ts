import { readRegularFile } from '../../../base/index.ts';

const fileLimitBytes = 64 * 1024;

export interface KeyPair {
  /** `AGE-SECRET-KEY-1…`: opens what is sealed for the recipient. */
  readonly identity: string;
  /** `age1…` */
  readonly recipient: string;
}

export async function createKeyPair(): Promise<KeyPair> {
  const { generateX25519Identity, identityToRecipient } = await import('age-encryption');
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** The secret keys in a file as `age-keygen` writes it: one a line, `#` before remarks. Rejects when there is none. */
export async function readIdentities(path: string): Promise<readonly string[]> {
  const text = (await readRegularFile(path, { limitBytes: fileLimitBytes })).toString('utf8');
  const lines = text.split('\n').map((line) => line.trim());
  const found = lines.flatMap((line, index) => {
    if (line === '' || line.startsWith('#')) return [];
    // what stands there is not shown: it may be a secret, mistyped
    if (!/^AGE-SECRET-KEY-1[A-Z0-9]+$/.test(line)) {
      throw new Error(`${path}:${index + 1}: this is no X25519 identity, which begins with AGE-SECRET-KEY-1`);
    }
    return [line];
  });
  if (found.length === 0) throw new Error(`${path} has no identity in it`);
  return found;
}

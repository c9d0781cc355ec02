import { readRegularFile } from '../../../base/index.ts';

/** For whom archives are sealed; for nobody, and not at all, when both are missing. */
export interface EncryptionSettings {
  /** `age1…`, each an X25519 key. */
  readonly recipients: readonly string[];
  /** More of them, one a line, `#` before remarks; read anew for each checkpoint. Empty: none. */
  readonly recipientsFile: string;
}

export const noEncryption: EncryptionSettings = Object.freeze({ recipients: [], recipientsFile: '' });

const fileLimitBytes = 64 * 1024;
/** Each is a part of every archive's header. */
export const recipientsLimit = 100;

export function isSealing({ recipients, recipientsFile }: EncryptionSettings): boolean {
  return recipients.length > 0 || recipientsFile !== '';
}

/** All recipients, each once. Rejects with an Error that says what is wrong with the file, also when it names nobody. */
export async function readRecipients({
  recipients,
  recipientsFile,
}: EncryptionSettings): Promise<readonly string[]> {
  const all = [...recipients, ...(recipientsFile === '' ? [] : await recipientsIn(recipientsFile))];
  const once = [...new Set(all)];
  if (once.length > recipientsLimit)
    throw new Error(`there are ${once.length} recipients, at most ${recipientsLimit} can be`);
  return once;
}

async function recipientsIn(path: string): Promise<string[]> {
  const text = (await readRegularFile(path, { limitBytes: fileLimitBytes })).toString('utf8');
  const lines = text.split('\n').map((line) => line.trim());
  const found = lines.flatMap((line, index) => {
    if (line === '' || line.startsWith('#')) return [];
    const problem = recipientProblem(line);
    if (problem !== undefined) throw new Error(`${path}:${index + 1}: ${problem}`);
    return [line];
  });
  if (found.length === 0) throw new Error(`${path} names no recipient`);
  return found;
}

const prefix = 'age';
const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const checksumLength = 6;
/** 32 bytes in letters of five bits. */
const keyLetters = 52;

/** Undefined, or what is wrong with it: an X25519 recipient is 32 bytes in Bech32 (BIP 173) with the prefix `age`. */
export function recipientProblem(text: string): string | undefined {
  const shown = JSON.stringify(text.slice(0, 80));
  if (/^AGE-SECRET-KEY-/i.test(text))
    return 'this is a secret key; its recipient is wanted, which begins with age1';
  if (!/^age1[a-z0-9]*$/.test(text))
    return `${shown} is no recipient of age: it begins with age1, in small letters`;
  const values = [...text.slice(prefix.length + 1)].map((letter) => alphabet.indexOf(letter));
  if (values.length !== keyLetters + checksumLength) {
    return `${shown} is no X25519 recipient: it has ${text.length} letters, not ${prefix.length + 1 + keyLetters + checksumLength}`;
  }
  if (values.includes(-1) || polymod([...expanded(prefix), ...values]) !== 1) {
    return `${shown} is mistyped: its checksum is wrong`;
  }
  return undefined;
}

function expanded(text: string): number[] {
  const codes = [...text].map((letter) => letter.charCodeAt(0));
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
}

const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

function polymod(values: readonly number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [bit, generator] of generators.entries()) if ((top >>> bit) & 1) sum ^= generator;
  }
  return sum >>> 0;
}

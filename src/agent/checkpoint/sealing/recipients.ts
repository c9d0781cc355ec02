import { readRegularFile } from '../../../base/index.ts';

/** For whom archives are sealed; without any recipients archives stay plain. */
export interface EncryptionSettings {
  /** `age1…`, each an X25519 key. */
  readonly recipients: readonly string[];
  /** A file with more of them, one a line, `#` starts a comment; read again for each checkpoint. Empty: no file. */
  readonly recipientsFile: string;
}

export const noEncryption: EncryptionSettings = Object.freeze({ recipients: [], recipientsFile: '' });

const maxFileBytes = 64 * 1024;
/** Bounds the header of archives, which has a part for each. */
const maxRecipients = 100;

export function isSealing({ recipients, recipientsFile }: EncryptionSettings): boolean {
  return recipients.length > 0 || recipientsFile !== '';
}

/** All recipients, each once. Rejects with an Error that says what is wrong with the file, also when it names none. */
export async function readRecipients({
  recipients,
  recipientsFile,
}: EncryptionSettings): Promise<readonly string[]> {
  const all = [...recipients, ...(recipientsFile === '' ? [] : await readRecipientsFile(recipientsFile))];
  const once = [...new Set(all)];
  if (once.length > maxRecipients)
    throw new Error(`there are ${once.length} recipients, at most ${maxRecipients} can be`);
  return once;
}

async function readRecipientsFile(path: string): Promise<string[]> {
  const text = (await readRegularFile(path, { limitBytes: maxFileBytes })).toString('utf8');
  const lines = text.split('\n').map((line) => line.trim());
  const found = lines.flatMap((line, index) => {
    if (line === '' || line.startsWith('#')) return [];
    const problem = checkRecipient(line);
    if (problem !== undefined) throw new Error(`${path}:${index + 1}: ${problem}`);
    return [line];
  });
  if (found.length === 0) throw new Error(`${path} names no recipient`);
  return found;
}

const prefix = 'age';
const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const checksumLength = 6;
/** 32 bytes in letters of five bits each. */
const keyLetters = 52;

/** Returns what is wrong with a recipient, if anything: it must be an X25519 key, 32 bytes in Bech32 (BIP 173) with the prefix `age`. */
export function checkRecipient(text: string): string | undefined {
  const given = JSON.stringify(text.slice(0, 80));
  if (/^AGE-SECRET-KEY-/i.test(text))
    return 'this is a secret key; its recipient is wanted, which begins with age1';
  if (!/^age1[a-z0-9]*$/.test(text))
    return `${given} is no recipient of age: it begins with age1, in small letters`;
  const values = [...text.slice(prefix.length + 1)].map((letter) => alphabet.indexOf(letter));
  if (values.length !== keyLetters + checksumLength) {
    return `${given} is no X25519 recipient: it has ${text.length} letters, not ${prefix.length + 1 + keyLetters + checksumLength}`;
  }
  if (values.includes(-1) || computeChecksum([...expandPrefix(prefix), ...values]) !== 1) {
    return `${given} is mistyped: its checksum is wrong`;
  }
  return undefined;
}

function expandPrefix(text: string): number[] {
  const codes = [...text].map((letter) => letter.charCodeAt(0));
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
}

const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

function computeChecksum(values: readonly number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [bit, generator] of generators.entries()) if ((top >>> bit) & 1) sum ^= generator;
  }
  return sum >>> 0;
}

import { isRecord } from '../../api/index.ts';
import { field, list, string, struct } from '../../api/schema/index.ts';
import type { EncryptionSettings } from '../checkpoint/index.ts';
import { recipientProblem } from '../checkpoint/index.ts';

/** `checkpoint.encryption`: for whom archives are sealed. They are plain by default. */
export const encryptionSection = struct('NodewardCheckpointEncryption', {
  recipients: field(1, list(string), 'X25519 recipients of age, age1…; each can open every archive.'),
  recipientsFile: field(2, string, 'A file with more of them, one a line.'),
});

type Rule = (value: unknown) => string | undefined;

export const encryptionRules: readonly (readonly [path: readonly string[], rule: Rule])[] = [
  [['recipients'], recipients],
];

function recipients(value: unknown): string | undefined {
  const stated: readonly unknown[] = Array.isArray(value) ? value : [];
  if (stated.length > 100) return `has ${stated.length} recipients, at most 100 can be`;
  for (const [index, each] of stated.entries()) {
    const problem = recipientProblem(String(each));
    if (problem !== undefined) return `[${index}]: ${problem}`;
  }
  return undefined;
}

/** `recipientsFile` is absolute, or empty where there is none. */
export function encryptionOf(section: unknown, recipientsFile: string): EncryptionSettings {
  const stated: unknown = isRecord(section) ? section['recipients'] : undefined;
  const named = Array.isArray(stated) ? stated.map(String) : [];
  return Object.freeze({ recipients: Object.freeze(named), recipientsFile });
}

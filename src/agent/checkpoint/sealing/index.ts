/** Archives that only the holder of a key can read: sealed in the `age` format (docs/decisions/0012). */
export { createKeyPair, type KeyPair, readIdentities } from './identity.ts';
export { type OpenedArchive, openArchive, SealError } from './open.ts';
export {
  type EncryptionSettings,
  isSealing,
  noEncryption,
  readRecipients,
  recipientProblem,
} from './recipients.ts';
export { type SealedFile, sealFile } from './seal-thread.ts';

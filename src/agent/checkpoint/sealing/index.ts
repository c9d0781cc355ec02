/** Archives that only the holder of a key can read, sealed in the `age` format (docs/decisions/0012). */
export { createKeyPair, type KeyPair, readIdentities } from './identity.ts';
export { isSealed, openArchive, SealError } from './open-archive.ts';
export {
  checkRecipient,
  type EncryptionSettings,
  isSealing,
  noEncryption,
  readRecipients,
} from './recipients.ts';
export { sealFile } from './seal-thread.ts';

export { type AdminKubeconfig, writeAdminKubeconfig } from './admin-kubeconfig.ts';
export { continueTokenKey } from './continue-token-key.ts';
export { type FileKeysOptions, fileKeys, type Keys } from './keys.ts';
export { openPki, type Pki, type PkiOptions } from './pki.ts';
export { pkiRenewal, type RenewalOptions } from './renewal.ts';
export { isUsualServerName, servingNames } from './server-names.ts';
export {
  openServiceAccountKey,
  readServiceAccountKey,
  type ServiceAccountKey,
  type TokenKey,
} from './service-account-keys.ts';
export {
  type CheckedRequest,
  checkNodeRequest,
  type NodeRequest,
  type NodeSigner,
  nodeSigner,
  SigningRefusedError,
} from './signer.ts';

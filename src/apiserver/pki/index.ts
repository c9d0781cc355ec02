export { writeAdminKubeconfig } from './admin-kubeconfig.ts';
export { continueTokenKey } from './continue-token-key.ts';
export { fileKeys, type Keys } from './keys.ts';
export { openPki, type Pki } from './pki.ts';
export { pkiRenewal } from './renewal.ts';
export { isUsualServerName, namesWithRelays, servingNames } from './server-names.ts';
export {
  openServiceAccountKey,
  readServiceAccountKey,
  type ServiceAccountKey,
  type TokenKey,
} from './service-account-keys.ts';
export {
  checkNodeRequest,
  type NodeRequest,
  type NodeSigner,
  nodeSigner,
  SigningRefusedError,
} from './signer.ts';

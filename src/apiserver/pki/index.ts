export { type AdminKubeconfig, writeAdminKubeconfig } from './admin-kubeconfig.ts';
export { openPki, type Pki, type PkiOptions } from './pki.ts';
export { pkiRenewal, type RenewalOptions } from './renewal.ts';
export { servingNames } from './server-names.ts';
export { openServiceAccountKey, type ServiceAccountKey } from './service-account-keys.ts';
export {
  type CheckedRequest,
  checkNodeRequest,
  type NodeRequest,
  type NodeSigner,
  nodeSigner,
  SigningRefusedError,
} from './signer.ts';

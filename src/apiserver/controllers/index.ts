export { certificateSigner, type SignerOptions } from './certificate-signer.ts';
export { type ControllerOptions, namespaceDeletion } from './namespace-deletion.ts';
export { ensureSystemNamespaces } from './system-namespaces.ts';

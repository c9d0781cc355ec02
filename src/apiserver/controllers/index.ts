export { certificateSigner, type SignerOptions } from './certificate-signer/index.ts';
export { defaultServiceAccounts } from './default-service-accounts.ts';
export { type EventExpiryOptions, eventExpiry } from './event-expiry.ts';
export { type ControllerOptions, namespaceDeletion } from './namespace-deletion.ts';
export { orphanedPods } from './orphaned-pods.ts';
export { ownerGarbage } from './owner-garbage/index.ts';
export { ensureSystemNamespaces } from './system-namespaces.ts';

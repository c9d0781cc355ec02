export { apiEndpoints, type ServerAddress } from './api-endpoints.ts';
export { apiService } from './api-service.ts';
export { apiTrustBundle } from './api-trust-bundle.ts';
export { authenticationConfig } from './authentication-config.ts';
export { bootstrapTokenExpiry } from './bootstrap-token-expiry.ts';
export { certificateSigner } from './certificate-signer/index.ts';
export { type ControllerOptions, type ControllerRun, controller, type Follows } from './controller.ts';
export { ensureDefaultPolicy } from './default-policy/index.ts';
export { defaultServiceAccounts } from './default-service-accounts.ts';
export { disruptionBudgets } from './disruption-budgets.ts';
export { DueTimes } from './due-times.ts';
export { ephemeralVolumes } from './ephemeral-volumes.ts';
export { eventExpiry } from './event-expiry.ts';
export { createEventRecorder } from './event-recorder.ts';
export { namespaceDeletion } from './namespace-deletion.ts';
export {
  historyNameOf,
  historyNamespace,
  maxAgeDays,
  maxTransitions,
  nodeHistory,
  parseHistory,
  type Transition,
} from './node-history/index.ts';
export { type NodeLifecycleSettings, nodeLifecycle } from './node-lifecycle/index.ts';
export { ownerGarbage } from './owner-garbage/index.ts';
export { ParsedObjects } from './parsed-objects.ts';
export { createPodDisruptor } from './pod-disruption.ts';
export { PodGarbageService } from './pod-garbage/index.ts';
export { findReadable, isProvenAbsent, isUnreadable } from './presence.ts';
export { quotaUsage } from './quota-usage.ts';
export { ignoreRace } from './races.ts';
export { roleAggregation, selectsAny } from './role-aggregation/index.ts';
export { rootCertificates } from './root-certificates.ts';
export { serviceRange } from './service-range.ts';
export { isLeaseHeld, StandBy, type StandByRoles } from './stand-by.ts';
export { ensureSystemNamespaces } from './system-namespaces.ts';
export { ensureSystemPriorityClasses } from './system-priority-classes.ts';
export { tokenSecrets } from './token-secrets/index.ts';
export { claimProtection, volumeProtection } from './volume-protection.ts';
export { WorkQueue } from './work-queue.ts';

export { acquireLock, type Lock, type LockOptions } from './acquire.ts';
export { type AgentLockOptions, acquireAgentLock } from './agent-lock.ts';
export { createProcessProbe, type ProcessProbe } from './identity.ts';
export { parseRecord } from './record.ts';
export { RuntimeLock, type RuntimeLockOptions, runtimeLockName } from './runtime-lock.ts';
export { findRuntimePlace } from './runtime-place.ts';

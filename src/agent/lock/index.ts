export { acquireLock, type Lock, type LockOptions } from './acquire.ts';
export { createProcessProbe, type ProcessIdentity, type ProcessProbe, type Verdict } from './identity.ts';
export { type LockRecord, parseRecord } from './record.ts';

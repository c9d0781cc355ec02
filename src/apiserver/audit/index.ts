export { type LogFileOptions, openLogFile } from './log-file.ts';
export { readAuditPolicy } from './policy.ts';
export { type AuditTrail, startTrail } from './trail.ts';
export type { AuditEvent, AuditPolicy, AuditSink } from './types.ts';

export { type LogFileOptions, openLogFile } from './log-file.ts';
export { readAuditPolicy } from './policy.ts';
export { type AuditAsked, type AuditRequest, type AuditTrail, startTrail } from './trail.ts';
export type { AuditEvent, AuditLevel, AuditPolicy, AuditSink, AuditStage } from './types.ts';

import type { User } from '../authn/index.ts';
import type { Attributes } from '../authz/index.ts';

/** How much of a request is kept: nothing, who did what, also what was sent, also what was answered. */
export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof auditLevels)[number];

/** When an entry is written: the request is there; a watch has begun; all is done; the server failed. */
export const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type AuditStage = (typeof auditStages)[number];

/** What a policy looks at. */
export interface AuditSubject {
  user: User;
  attributes: Attributes;
}

/** What is kept of a request, and which of its stages are left out. */
export interface AuditVerdict {
  level: AuditLevel;
  omitStages: ReadonlySet<AuditStage>;
}

export interface AuditPolicy {
  /** The first rule that fits decides; nothing is kept where none does. */
  judge(subject: AuditSubject): AuditVerdict;
}

/** One line of the log: an Event of audit.k8s.io/v1, without what is not known. */
export interface AuditEvent {
  kind: 'Event';
  apiVersion: 'audit.k8s.io/v1';
  level: AuditLevel;
  auditID: string;
  stage: AuditStage;
  requestURI: string;
  verb: string;
  user: AuditUser;
  impersonatedUser?: AuditUser;
  sourceIPs: string[];
  userAgent: string;
  objectRef?: Record<string, string>;
  responseStatus?: { code: number };
  requestObject?: unknown;
  responseObject?: unknown;
  /** RFC 3339 in microseconds. */
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  annotations?: Record<string, string>;
}

export interface AuditUser {
  username: string;
  uid?: string;
  groups: readonly string[];
  extra?: User['extra'];
}

/** Where entries go. */
export interface AuditSink extends AsyncDisposable {
  /** Takes a line at once; written soon, in order. */
  write(line: string): void;
}

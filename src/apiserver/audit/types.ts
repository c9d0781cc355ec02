import type { User } from '../authn/index.ts';
import type { Attributes } from '../authz/index.ts';

/** How much of a request is recorded: nothing, who did what, also the request body, also the response body. */
export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof auditLevels)[number];

/** When an event is written: the request arrived; a watch started; the response is complete; the server failed. */
export const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type AuditStage = (typeof auditStages)[number];

/** What a policy decides by. */
export interface AuditSubject {
  user: User;
  attributes: Attributes;
}

/** How much of a request is recorded, and which of its stages are left out. */
export interface AuditVerdict {
  level: AuditLevel;
  omitStages: ReadonlySet<AuditStage>;
}

export interface AuditPolicy {
  /** The first matching rule decides; without one nothing is recorded. */
  judge(subject: AuditSubject): AuditVerdict;
}

/** One line of the log: an Event of audit.k8s.io/v1, without unknown fields. */
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

/** The destination of audit events. */
export interface AuditSink extends AsyncDisposable {
  /** Accepts a line at once; it is written soon, in order. */
  write(line: string): void;
}

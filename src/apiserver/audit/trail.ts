import { randomUUID } from 'node:crypto';
import { formatMicroTime } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { User } from '../authn/index.ts';
import type { Attributes, Decision } from '../authz/index.ts';
import type { AuditEvent, AuditPolicy, AuditSink, AuditStage, AuditUser, AuditVerdict } from './types.ts';

/** What is known of a request when it arrives. */
export interface AuditRequest {
  method: string;
  uri: string;
  sourceIp: string;
  userAgent: string;
}

/** Who asks for what, once that is known. */
export interface AuditAsked {
  /** The owner of the credentials. */
  user: User;
  /** The impersonated user, if there is one. */
  impersonated: User | undefined;
  attributes: Attributes;
  decision: Decision;
  /** What else is to be said of the credentials. */
  annotations?: Readonly<Record<string, string>>;
}

/** The audit events of one request. Without a call of `asked` it was refused before the user was known; events name none. */
export interface AuditTrail {
  readonly id: string;
  asked(asked: AuditAsked): void;
  /** Whether the body of the request, and of the response, is to be recorded. */
  readonly keeps: { request: boolean; response: boolean };
  /** Records a parsed body, for the levels that include it. */
  record(part: 'requestObject' | 'responseObject', body: unknown): void;
  /** Has to be called when a long-running response starts. */
  started(code: number): void;
  ended(code: number, failed: boolean): void;
}

/** Longer texts from clients are cut, in characters. */
const maxLengths = { uri: 4096, userAgent: 512 };

export function startTrail(
  { method, uri, sourceIp, userAgent }: AuditRequest,
  { policy, sink, clock }: { policy: AuditPolicy; sink: AuditSink; clock: Clock },
): AuditTrail {
  const id = randomUUID();
  const receivedAt = formatMicroTime(clock.now());
  let known: AuditAsked | undefined;
  let verdict: AuditVerdict | undefined;
  const bodies: Pick<AuditEvent, 'requestObject' | 'responseObject'> = {};

  function write(stage: AuditStage, at: string, code?: number): void {
    if (verdict === undefined || verdict.level === 'None' || verdict.omitStages.has(stage)) return;
    const event: AuditEvent = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: verdict.level,
      auditID: id,
      stage,
      requestURI: uri.slice(0, maxLengths.uri),
      verb: known?.attributes.verb ?? method.toLowerCase(),
      ...(known === undefined ? { user: nobody } : usersOf(known)),
      sourceIPs: [sourceIp],
      userAgent: userAgent.slice(0, maxLengths.userAgent),
      ...(known === undefined ? {} : objectRefOf(known.attributes)),
      ...(code === undefined ? {} : { responseStatus: { code } }),
      ...(stage === 'RequestReceived' ? {} : bodies),
      requestReceivedTimestamp: receivedAt,
      stageTimestamp: at,
      ...(known === undefined ? {} : annotationsOf(known)),
    };
    sink.write(renderLine(event));
  }
  const now = () => formatMicroTime(clock.now());

  return {
    id,
    asked(asked) {
      if (known !== undefined) return; // further permissions of the same request
      known = asked;
      const { impersonated, user, attributes } = asked;
      verdict = policy.judge({ user: impersonated ?? user, attributes });
      write('RequestReceived', receivedAt);
    },
    get keeps() {
      const level = verdict?.level;
      return {
        request: level === 'Request' || level === 'RequestResponse',
        response: level === 'RequestResponse',
      };
    },
    record(part, body) {
      bodies[part] = body;
    },
    started: (code) => write('ResponseStarted', now(), code),
    ended(code, failed) {
      verdict ??= policy.judge({ user: unknownUser, attributes: { verb: method.toLowerCase(), path: uri } });
      write(failed ? 'Panic' : 'ResponseComplete', now(), code);
    },
  };
}

/** The bodies are left out of a line that would be longer than this, so that no line is too long for the log. */
const maxLineLength = 1024 * 1024;

function renderLine(event: AuditEvent): string {
  const line = JSON.stringify(event);
  if (line.length <= maxLineLength) return line;
  const { requestObject: _request, responseObject: _response, ...rest } = event;
  const annotations = { ...rest.annotations, 'audit.nodeward.io/bodies': 'left out: too long' };
  return JSON.stringify({ ...rest, annotations });
}

const unknownUser: User = { name: '', groups: [], extra: {} };
const nobody: AuditUser = { username: '', groups: [] };

function usersOf({ user, impersonated }: AuditAsked): Pick<AuditEvent, 'user' | 'impersonatedUser'> {
  return {
    user: toAuditUser(user),
    ...(impersonated === undefined ? {} : { impersonatedUser: toAuditUser(impersonated) }),
  };
}

function toAuditUser({ name, uid, groups, extra }: User): AuditUser {
  const more = Object.keys(extra).length === 0 ? {} : { extra };
  return { username: name, ...(uid === undefined ? {} : { uid }), groups, ...more };
}

function objectRefOf(attributes: Attributes): Pick<AuditEvent, 'objectRef'> {
  if (!('resource' in attributes)) return {};
  const { resource, namespace, name, group: apiGroup, version: apiVersion, subresource } = attributes;
  const fields = { resource, namespace, name, apiGroup, apiVersion, subresource };
  const known = Object.entries(fields).filter(([, text]) => text !== '');
  return { objectRef: Object.fromEntries(known) };
}

/** The annotations of the reference. */
function annotationsOf({
  decision: { verdict, reason },
  annotations,
}: AuditAsked): Pick<AuditEvent, 'annotations'> {
  const decision = verdict === 'allow' ? 'allow' : 'forbid';
  return {
    annotations: {
      ...annotations,
      'authorization.k8s.io/decision': decision,
      'authorization.k8s.io/reason': reason,
    },
  };
}

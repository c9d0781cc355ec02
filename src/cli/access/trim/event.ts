import { isRecord } from '../../../api/index.ts';
import { tryParseRecord } from '../../../base/index.ts';

/** What an entry of an audit log says of a request: what was done, by whom, and whether that was allowed. */
export interface LoggedRequest {
  id: string;
  /** RFC 3339. */
  at: string;
  verb: string;
  /** Whose credentials they were. */
  user: LoggedUser;
  /** Whom the server took them for, where that is somebody else. */
  impersonated: LoggedUser | undefined;
  target: LoggedObject | { path: string };
  allowed: boolean;
  /** Of the answer; 0 while there is none. */
  code: number;
}

export interface LoggedUser {
  name: string;
  uid: string;
  groups: readonly string[];
  extra: Readonly<Record<string, readonly string[]>>;
}

export interface LoggedObject {
  namespace: string;
  group: string;
  resource: string;
  subresource: string;
  name: string;
}

/**
 * The request in a line; 'damaged' for what is no entry of such a log, undefined for one that says nothing of a decision:
 * who it was is not known, or not yet whether they may.
 */
export function requestIn(line: string): LoggedRequest | 'damaged' | undefined {
  const event = tryParseRecord(line);
  if (event?.['kind'] !== 'Event') return 'damaged';
  if (!text(event['apiVersion']).startsWith('audit.k8s.io/')) return 'damaged';
  const { annotations, verb, stageTimestamp, requestURI, objectRef, responseStatus } = event;
  const at = text(stageTimestamp);
  if (text(verb) === '' || Number.isNaN(Date.parse(at))) return 'damaged';
  const decision = isRecord(annotations) ? annotations['authorization.k8s.io/decision'] : undefined;
  if (typeof decision !== 'string') return undefined;
  const code = isRecord(responseStatus) ? responseStatus['code'] : 0;
  return {
    id: text(event['auditID']),
    at,
    verb: text(verb),
    user: userIn(event['user']),
    impersonated: isRecord(event['impersonatedUser']) ? userIn(event['impersonatedUser']) : undefined,
    target: isRecord(objectRef) ? objectIn(objectRef) : { path: text(requestURI).split('?', 1)[0] ?? '' },
    allowed: decision === 'allow',
    code: typeof code === 'number' ? code : 0,
  };
}

function userIn(value: unknown): LoggedUser {
  const { username, uid, groups, extra } = isRecord(value) ? value : {};
  const entries = isRecord(extra) ? Object.entries(extra) : [];
  return {
    name: text(username),
    uid: text(uid),
    groups: texts(groups),
    extra: Object.fromEntries(entries.map(([key, values]) => [key, texts(values)])),
  };
}

function objectIn(reference: Record<string, unknown>): LoggedObject {
  const { namespace, apiGroup, resource, subresource, name } = reference;
  return {
    namespace: text(namespace),
    group: text(apiGroup),
    resource: text(resource),
    subresource: text(subresource),
    name: text(name),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

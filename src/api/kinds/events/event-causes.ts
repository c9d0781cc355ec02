import { isDeepStrictEqual } from 'node:util';
import { checkName, checkQualifiedName } from '../../names/index.ts';
import { invalidUnless, invalidValue, requiredValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import type { Event } from './event-description.ts';

/*
 * An Event comes in two generations, distinguished by eventTime. The older one (the core group's) accepts nearly anything,
 * as its writers expect. The newer one (events.k8s.io) must name the reporter and the action, and a write through that
 * group must not use the fields of the older generation. Both are stored as the core group's object, so the causes name
 * its fields.
 */

const noteLimit = 1024;
const wordLimit = 128;

/** The causes why an Event is invalid, for writes through either group. */
export function eventCauses(event: Event): Cause[] {
  const namespace = event.metadata?.namespace ?? '';
  return [
    ...namespaceCauses(event, namespace),
    ...(event.eventTime === undefined ? [] : reportCauses(event)),
    ...invalidUnless('metadata.namespace', namespace, checkName('subdomain', namespace)),
  ];
}

/** An Event is in the namespace of its object; one about a cluster-scoped object is in `default`. */
function namespaceCauses(event: Event, namespace: string): Cause[] {
  const of = event.involvedObject?.namespace ?? '';
  const ofCluster = event.eventTime === undefined ? ['', 'default'] : ['default', 'kube-system'];
  const agrees =
    of === '' ? ofCluster.includes(namespace) : event.eventTime !== undefined || of === namespace;
  return agrees ? [] : [invalidValue('involvedObject.namespace', of, 'does not match event.namespace')];
}

function reportCauses({ reportingComponent = '', message = '', ...event }: Event): Cause[] {
  const wrongReporter = reportingComponent === '' ? undefined : checkQualifiedName(reportingComponent);
  return [
    ...(reportingComponent === '' ? [requiredValue('reportingComponent')] : []),
    ...invalidUnless('reportingComponent', reportingComponent, wrongReporter),
    ...wordCauses('reportingInstance', event.reportingInstance),
    ...wordCauses('action', event.action),
    ...wordCauses('reason', event.reason),
    ...lengthCauses('message', message, noteLimit),
  ];
}

function wordCauses(field: string, word: string | undefined): Cause[] {
  return word ? lengthCauses(field, word, wordLimit) : [requiredValue(field)];
}

function lengthCauses(field: string, text: string, limit: number): Cause[] {
  if (Buffer.byteLength(text) <= limit) return [];
  return [invalidValue(field, '', `can have at most ${limit} characters`)];
}

/** Further causes for a new Event that is written through events.k8s.io. */
export function newEventCauses(event: Event): Cause[] {
  const { type = '', source = {} } = event;
  const unset = (['firstTimestamp', 'lastTimestamp', 'count'] as const).filter((name) => event[name]);
  return [
    ...seriesCauses(event),
    ...(event.eventTime === undefined ? [requiredValue('eventTime')] : []),
    ...(['Normal', 'Warning'].includes(type) ? [] : [invalidValue('type', '', `has invalid value: ${type}`)]),
    ...unset.map((name) => invalidValue(name, '', 'needs to be unset')),
    ...(source.component || source.host ? [invalidValue('source', '', 'needs to be unset')] : []),
  ];
}

function seriesCauses({ series }: Event): Cause[] {
  if (series === undefined) return [];
  return [
    ...((series.count ?? 0) < 2 ? [invalidValue('series.count', '', 'should be at least 2')] : []),
    ...(series.lastObservedTime === undefined ? [requiredValue('series.lastObservedTime')] : []),
  ];
}

const fixedFields = [
  ...(['involvedObject', 'reason', 'message', 'source', 'firstTimestamp', 'lastTimestamp', 'count'] as const),
  ...(['type', 'eventTime', 'action', 'related', 'reportingComponent', 'reportingInstance'] as const),
];

/** Further causes for a change that is written through events.k8s.io: only the series can change. */
export function eventChangeCauses(next: Event, old: Event): Cause[] {
  const changed = fixedFields.filter((name) => !isDeepStrictEqual(next[name] ?? {}, old[name] ?? {}));
  return [
    ...(isDeepStrictEqual(next.series, old.series) ? [] : seriesCauses(next)),
    ...changed.map((name) => invalidValue(name, next[name] ?? null, 'field is immutable')),
  ];
}

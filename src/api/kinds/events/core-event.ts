import { ageOf } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Column } from '../kind.ts';
import { eventCauses } from './event-causes.ts';
import type { Event } from './event-description.ts';
import { eventRoot } from './event-description.ts';

function column(name: string, priority: number, description: string, value: Column<Event>['value']) {
  return { name, type: 'string', description, priority, value } as const;
}

function getFirstTime({ firstTimestamp, eventTime }: Event): string | undefined {
  return firstTimestamp ?? eventTime;
}

function getLastTime(event: Event): string | undefined {
  if (event.series !== undefined) return event.series.lastObservedTime;
  return event.lastTimestamp ?? getFirstTime(event);
}

function formatTarget({ involvedObject }: Event): string {
  const { kind = '', name } = involvedObject ?? {};
  return name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase();
}

function formatReporter({ source = {}, reportingComponent = '', reportingInstance = '' }: Event): string {
  const component = source.component || reportingComponent;
  const instance = source.host || reportingInstance;
  return instance === '' ? component : `${component}, ${instance}`;
}

const referenceParts = [
  ...(['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const),
];

export const eventKind = defineKind<Event>({
  group: '',
  version: 'v1',
  kind: 'Event',
  doc: 'A report of something that happened to an object; kept for an hour.',
  resource: 'events',
  singular: 'event',
  shortNames: ['ev'],
  namespaced: true,
  createOnUpdate: true,
  nameRule: 'pathSegment',
  root: eventRoot,
  default: (event) => ({ ...event, involvedObject: event.involvedObject ?? {} }),
  validate: eventCauses,
  columns: [
    column('Last Seen', 0, 'When it was last seen.', (event, now) => ageOf(getLastTime(event), now)),
    column('Type', 0, 'Normal or Warning.', ({ type = '' }) => type),
    column('Reason', 0, 'What happened, for programs.', ({ reason = '' }) => reason),
    column('Object', 0, 'What the event is about.', formatTarget),
    column('Subobject', 1, 'The part that is meant.', (event) => event.involvedObject?.fieldPath ?? ''),
    column('Source', 1, 'Who reports.', formatReporter),
    column('Message', 0, 'What happened, for people.', ({ message = '' }) => message.trim()),
    column('First Seen', 1, 'When it was first seen.', (event, now) => ageOf(getFirstTime(event), now)),
    {
      name: 'Count',
      type: 'string',
      description: 'How often it was seen.',
      priority: 1,
      value: ({ series, count }) => series?.count ?? (count || 1),
    },
    { ...column('Name', 1, 'Name of the event.', ({ metadata }) => metadata?.name ?? ''), format: 'name' },
  ],
  selectable: [
    ...referenceParts.map((part) => ({
      path: `involvedObject.${part}`,
      value: (event: Event) => event.involvedObject?.[part] ?? '',
    })),
    { path: 'reason', value: ({ reason = '' }) => reason },
    { path: 'reportingComponent', value: ({ reportingComponent = '' }) => reportingComponent },
    {
      path: 'source',
      value: ({ source, reportingComponent = '' }) => source?.component || reportingComponent,
    },
    { path: 'type', value: ({ type = '' }) => type },
  ],
});

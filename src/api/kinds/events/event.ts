import type { Infer } from '../../schema/index.ts';
import { field, int32, microTime, string, struct, time } from '../../schema/index.ts';
import { objectReference } from '../core/object-reference.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { eventKind as coreEventKind } from './core-event.ts';
import { eventCauses, eventChangeCauses, newEventCauses } from './event-causes.ts';
import type { Event as CoreEvent } from './event-description.ts';
import { eventSeries, eventSource } from './event-description.ts';

const series = struct('EventSeries', {
  ...eventSeries.fields,
  count: field(1, int32, 'How often it was seen; at least 2.', { written: true }),
});

const root = objectStruct('Event', {
  eventTime: field(2, microTime, 'When it was first seen.', { written: true }),
  series: field(3, series, 'How it went on, where it happened again.'),
  reportingController: field(4, string, 'Controller that reports, kubernetes.io/kubelet.'),
  reportingInstance: field(5, string, 'Instance of that controller.'),
  action: field(6, string, 'What was done or failed about the object.'),
  reason: field(7, string, 'What happened, for programs.'),
  regarding: field(8, objectReference, 'What the event is about.', { default: {} }),
  related: field(9, objectReference, 'Another object that has to do with it.'),
  note: field(10, string, 'What happened, for people.'),
  type: field(11, string, 'Normal or Warning.'),
  deprecatedSource: field(12, eventSource, 'Who reports; of older events.', { default: {} }),
  deprecatedFirstTimestamp: field(13, time, 'When it was first seen; of older events.', { written: true }),
  deprecatedLastTimestamp: field(14, time, 'When it was last seen; of older events.', { written: true }),
  deprecatedCount: field(15, int32, 'How often it was seen; of older events.'),
});

/** Something that happened to an object: the core group's Event under the names of its newer generation. */
export interface EventView extends Infer<typeof root> {}

function toCore(event: EventView): CoreEvent {
  const { reportingController, regarding = {}, note, ...named } = event;
  const { deprecatedSource, deprecatedFirstTimestamp, deprecatedLastTimestamp, deprecatedCount, ...same } =
    named;
  return {
    ...same,
    involvedObject: regarding,
    ...(note === undefined ? {} : { message: note }),
    ...(reportingController === undefined ? {} : { reportingComponent: reportingController }),
    ...(deprecatedSource === undefined ? {} : { source: deprecatedSource }),
    ...(deprecatedFirstTimestamp === undefined ? {} : { firstTimestamp: deprecatedFirstTimestamp }),
    ...(deprecatedLastTimestamp === undefined ? {} : { lastTimestamp: deprecatedLastTimestamp }),
    ...(deprecatedCount === undefined ? {} : { count: deprecatedCount }),
  };
}

function fromCore(stored: CoreEvent): EventView {
  const { reportingComponent, involvedObject, message, ...named } = stored;
  const { source, firstTimestamp, lastTimestamp, count, ...same } = named;
  return {
    ...same,
    regarding: involvedObject,
    ...(message === undefined ? {} : { note: message }),
    ...(reportingComponent === undefined ? {} : { reportingController: reportingComponent }),
    ...(source === undefined ? {} : { deprecatedSource: source }),
    ...(firstTimestamp === undefined ? {} : { deprecatedFirstTimestamp: firstTimestamp }),
    ...(lastTimestamp === undefined ? {} : { deprecatedLastTimestamp: lastTimestamp }),
    ...(count === undefined ? {} : { deprecatedCount: count }),
  };
}

const namesHere = new Map([
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
]);

function validate(next: EventView, old: EventView | undefined): Cause[] {
  const event = toCore(next);
  const causes = [
    ...eventCauses(event),
    ...(old === undefined ? newEventCauses(event) : eventChangeCauses(event, toCore(old))),
  ];
  return causes.map((cause) => {
    const [first = '', ...rest] = cause.field.split('.');
    return { ...cause, field: [namesHere.get(first) ?? first, ...rest].join('.') };
  });
}

const referenceParts = [
  ...(['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const),
];

export const eventViewKind = defineKind<EventView>({
  group: 'events',
  version: 'v1',
  kind: 'Event',
  doc: 'A report of something that happened to an object; kept for an hour. The same objects as the Events of the core group.',
  resource: 'events',
  singular: 'event',
  shortNames: ['ev'],
  namespaced: true,
  createOnUpdate: true,
  root,
  storedAs: { kind: coreEventKind, to: toCore, from: fromCore },
  default: (event) => ({ ...event, regarding: event.regarding ?? {} }),
  validate,
  columns: coreEventKind.columns.map((column) => ({
    ...column,
    value: (event, now) => column.value(toCore(event), now),
  })),
  selectable: [
    ...referenceParts.map((part) => ({
      path: `regarding.${part}`,
      value: (event: EventView) => event.regarding?.[part] ?? '',
    })),
    { path: 'reason', value: ({ reason = '' }) => reason },
    { path: 'reportingController', value: ({ reportingController = '' }) => reportingController },
    { path: 'type', value: ({ type = '' }) => type },
  ],
});

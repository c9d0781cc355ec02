import type { Infer } from '../../schema/index.ts';
import { field, int32, microTime, required, string, struct, time } from '../../schema/index.ts';
import { objectReference } from '../core/object-reference.ts';
import { objectStruct } from '../define.ts';

/** The reporter of an Event in the older generation. */
export const eventSource = struct(
  'EventSource',
  {
    component: field(1, string, 'Component that reports.'),
    host: field(2, string, 'Node that it runs on.'),
  },
  { home: 'core/v1' },
);

/** How often an Event of the core group has happened so far. */
export const eventSeries = struct('EventSeries', {
  count: field(1, int32, 'How often it was seen; at least 2.'),
  lastObservedTime: field(2, microTime, 'When it was last seen.', { written: true }),
});

/** The fields of an Event of the core group. */
export const eventRoot = objectStruct('Event', {
  involvedObject: required(2, objectReference, 'What the event is about.'),
  reason: field(3, string, 'What happened, for programs.'),
  message: field(4, string, 'What happened, for people.'),
  source: field(5, eventSource, 'Who reports.', { default: {} }),
  firstTimestamp: field(6, time, 'When it was first seen.', { written: true }),
  lastTimestamp: field(7, time, 'When it was last seen.', { written: true }),
  count: field(8, int32, 'How often it was seen.'),
  type: field(9, string, 'Normal or Warning.'),
  eventTime: field(10, microTime, 'When it was first seen.', { written: true }),
  series: field(11, eventSeries, 'How it went on, where it happened again.'),
  action: field(12, string, 'What was done or failed about the object.'),
  related: field(13, objectReference, 'Another object that has to do with it.'),
  reportingComponent: field(14, string, 'Controller that reports, kubernetes.io/kubelet.', { written: true }),
  reportingInstance: field(15, string, 'Instance of that controller.', { written: true }),
});

/** Something that happened to an object; kept for an hour. */
export interface Event extends Infer<typeof eventRoot> {}

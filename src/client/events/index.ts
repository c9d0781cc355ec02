/** What happens, recorded as Events of the API. */
export { createEventRecorder } from './recorder.ts';
export type {
  CountedEvent,
  EventOutcome,
  EventPlace,
  EventRecorder,
  EventWriter,
  Happening,
  Subject,
  WrittenEvent,
} from './types.ts';

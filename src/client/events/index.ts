/** What happens, recorded as Events of the API. */
export { createEventRecorder } from './recorder.ts';
export type {
  CountedEvent,
  EventOutcome,
  EventRecorder,
  EventWriter,
  Happening,
  Subject,
} from './types.ts';

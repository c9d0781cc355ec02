/** What happens on this node, told to the API. */
export { createEventRecorder, type EventRecorderOptions } from './recorder.ts';
export { type EventRecorder, type Happening, nodeSubject, type Subject, silentRecorder } from './types.ts';

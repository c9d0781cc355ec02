/** Reports Events of this node to the API. */
export type { Happening, Subject } from '../../../client/events/index.ts';
export { createEventRecorder, type EventRecorderOptions } from './recorder.ts';
export { type EventRecorder, nodeSubject, podSubject, silentRecorder } from './types.ts';

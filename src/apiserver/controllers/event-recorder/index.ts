export { createEventRecorder, type EventRecorder, type Happening, type Subject } from './recorder.ts';

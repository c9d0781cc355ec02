export { type PodGarbageSettings, podGarbage } from './service.ts';

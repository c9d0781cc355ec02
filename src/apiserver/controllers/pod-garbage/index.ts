export { PodGarbageService, type PodGarbageSettings } from './service.ts';

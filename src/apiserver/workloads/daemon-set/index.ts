export { daemonSets } from './service.ts';

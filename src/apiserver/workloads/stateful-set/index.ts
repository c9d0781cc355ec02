export { statefulSets } from './service.ts';

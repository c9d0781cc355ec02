export { ownerGarbage } from './service.ts';

export { serverNames } from './names.ts';
export { serverLease } from './service.ts';

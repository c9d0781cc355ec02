export { listServerNames } from './names.ts';
export { serverLease } from './service.ts';

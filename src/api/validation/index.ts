export { validateLifetime, validateMetadata } from './metadata.ts';
export { missingFields } from './required.ts';

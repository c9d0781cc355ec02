export { validateLifetime, validateMetadata } from './metadata.ts';
export { findMissingFields } from './required.ts';

export { validateMetadata } from './metadata.ts';
export { missingFields } from './required.ts';

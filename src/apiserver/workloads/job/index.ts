export { jobs } from './job-controller.ts';
export { jobOrphans } from './job-orphans.ts';
export { findCondition, finishedCondition } from './job-pods.ts';
export { ttlAfterFinished } from './ttl-after-finished.ts';

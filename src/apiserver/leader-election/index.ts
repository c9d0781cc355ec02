export { leaderElection, leaderLease } from './service.ts';

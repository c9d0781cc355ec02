export { type LeaderElectionOptions, leaderElection, leaderLease } from './service.ts';

export { cronJobs } from './cron-job-controller.ts';

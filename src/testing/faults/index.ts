export { ServerFaults } from './faults.ts';

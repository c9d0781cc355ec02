export { bellClock } from '../../../support/bell-clock.ts';
export { fastClock } from '../../../support/fast-clock.ts';
export { type ApiTester, objectIn, type Reply, statusIn } from './api-tester.ts';
export {
  allLeases,
  configMaps,
  csrs,
  lease,
  leases,
  named,
  namespaces,
  nodes,
  otherControllerManager,
  type Shown,
  signingRequest,
} from './objects.ts';
export { foreignMaster, shiftedClock, startServer, type TestServer } from './server.ts';
export type { WatchTester } from './watch-tester.ts';

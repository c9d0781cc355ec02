export { type ApiTester, objectIn, type Reply, statusIn } from './api-tester.ts';
export { fastClock } from './fast-clock.ts';
export {
  allLeases,
  configMaps,
  csrs,
  lease,
  leases,
  named,
  namespaces,
  nodes,
  type Shown,
  signingRequest,
} from './objects.ts';
export { foreignMaster, shiftedClock, startServer, type TestServer } from './server.ts';
export type { WatchTester } from './watch-tester.ts';

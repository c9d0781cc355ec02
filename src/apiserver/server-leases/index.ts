export { findAdvertisedAddress } from './advertised-address.ts';
export { LiveServers } from './live-servers.ts';
export { listServerNames } from './names.ts';
export { serverLease } from './service.ts';

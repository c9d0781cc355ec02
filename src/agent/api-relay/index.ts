/** How pods of this node reach the API. */

export { type ApiAddress, type ApiForPods, apiAddressForPods } from './address.ts';
export { ApiRelay, type ApiRelayOptions } from './relay.ts';

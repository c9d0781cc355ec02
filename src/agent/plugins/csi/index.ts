/** CSI drivers on this node: registration, publication in the API, and the list of those that can mount volumes. */
export { CsiHandler, type CsiHandlerOptions } from './handler.ts';
export { type CsiPublisher, createCsiPublisher, type PublisherOptions } from './publisher.ts';
export type { CsiDriver, CsiDrivers, NodeInfo, Publication } from './types.ts';

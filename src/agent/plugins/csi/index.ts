/** CSI drivers on this node: registration, what the cluster is told of them, and who may be asked for volumes. */
export { type CsiHandlerOptions, createCsiHandler } from './handler.ts';
export { type CsiPublisher, createCsiPublisher, type PublisherOptions } from './publisher.ts';
export type { CsiDriver, CsiDrivers, NodeInfo, Publication } from './types.ts';

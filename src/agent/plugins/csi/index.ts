/** CSI drivers on this node: registration, publication in the API, and the list of those that can mount volumes. */
export { CsiHandler } from './handler.ts';
export { volumeCallMetrics } from './metrics.ts';
export { type CsiPublisher, createCsiPublisher } from './publisher.ts';
export type { CsiDriver, CsiDrivers, Publication } from './types.ts';
export { CsiVolumeDrivers } from './volume-drivers.ts';

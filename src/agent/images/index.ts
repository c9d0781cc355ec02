/** The images that pods need: pulled by their policies, with their credentials, and removed when the disk fills. */
export { ImageAccess, type ImageAccessOptions } from './access/image-access.ts';
export { type AccessSettings, verificationPolicies } from './access/policy.ts';
export { ImageCollector, type ImageCollectorOptions } from './collect/collector.ts';
export type { CollectionSettings } from './collect/types.ts';
export { type ProviderSettings, readProviders } from './credentials/providers/config.ts';
export { CredentialProviders, type CredentialProvidersOptions } from './credentials/providers/providers.ts';
export type { PullSecrets } from './credentials/sources.ts';
export { type ImageMetrics, imageMetrics } from './image-metrics.ts';
export { ImageRoom, type ImageRoomOptions } from './image-room.ts';
export type { PullSettings } from './pulls.ts';
export type { ContainerUserOfImage, ImageState, Images, ImageWish } from './types.ts';

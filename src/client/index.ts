export { type ApiCalls, type CallOptions, type PatchOptions, whoAnswers } from './api-calls.ts';
export { ApiClient, createClient } from './api-client.ts';
export { ConnectionError } from './errors.ts';
export { ifFound } from './if-found.ts';
export {
  clientOptionsOf,
  type Kubeconfig,
  readKubeconfig,
  renderKubeconfig,
} from './kubeconfig/index.ts';
export { splitLines } from './lines.ts';
export { ObjectFollower, type ObjectFollowerOptions } from './object-follower.ts';
export type {
  ClientOptions,
  DeleteOptions,
  ListOptions,
  Owner,
  Place,
  WatchOptions,
} from './options.ts';
export { createOutageLog, type OutageLog, retryAfterMs } from './outage.ts';
export type { WatchEvent } from './responses.ts';
export type { RawAnswer, RawRequest } from './transport.ts';

export type { WatchEvent } from './answers.ts';
export { type ApiCalls, type CallOptions, type PatchOptions, whoAnswers } from './api-calls.ts';
export { ApiClient, createClient } from './api-client.ts';
export { ConnectionError, type ConnectionFailure } from './errors.ts';
export { ifFound } from './if-found.ts';
export {
  clientOptionsOf,
  type Kubeconfig,
  type KubeconfigEntry,
  readKubeconfig,
  renderKubeconfig,
} from './kubeconfig/index.ts';
export type {
  ClientOptions,
  DeleteOptions,
  ListOptions,
  ObjectOptions,
  PatchForm,
  Place,
  WatchOptions,
} from './options.ts';
export { createOutageLog, type OutageLog, retryAfterMs } from './outage.ts';
export type { WireAnswer as RawAnswer, WireRequest as RawRequest } from './transport.ts';

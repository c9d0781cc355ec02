/** How commands reach the running agent. */
export { type ReloadRequest, requestReload } from './client.ts';
export { controlSocketPath } from './protocol.ts';
export { type ControlSocketOptions, controlSocketService } from './service.ts';

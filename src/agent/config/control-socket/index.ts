/** How commands reach the running agent. */
export { requestReload } from './client.ts';
export { controlSocketPath } from './protocol.ts';
export { controlSocketService } from './service.ts';

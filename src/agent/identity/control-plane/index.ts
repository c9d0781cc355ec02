/** The control plane that the agent runs as its child. */
export { type ControlPlaneOptions, ControlPlaneService } from './service.ts';

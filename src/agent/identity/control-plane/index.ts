/** The control plane that the agent runs as its child. */
export { type ControlPlaneOptions, type ControlPlaneService, controlPlaneService } from './service.ts';

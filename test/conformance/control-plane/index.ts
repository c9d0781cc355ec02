export { buildOnce, type ControlPlane, startControlPlane } from './control-plane.ts';

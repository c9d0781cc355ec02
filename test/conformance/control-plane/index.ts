export { type ControlPlane, startControlPlane } from './control-plane.ts';

export { applyStrategicPatch } from './strategic-patch.ts';

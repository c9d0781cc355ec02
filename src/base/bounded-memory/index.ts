/** How little memory a process uses: what it is started with, how one that was not gets it, and what it frees at rest. */
export {
  boundedMemoryEnvironment,
  boundedMemoryFlags,
  smallMemoryEnvironment,
  smallMemoryFlags,
  toControlPlaneEnvironment,
} from './flags.ts';
export { collectAtRest } from './rest.ts';
export { restartBounded } from './restart.ts';

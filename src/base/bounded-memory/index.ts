/** How a control plane uses memory: what its process is started with, and how one that was not gets it. */
export { boundedMemoryEnvironment, boundedMemoryFlags } from './flags.ts';
export { restartBounded } from './restart.ts';

/** How little memory a process uses: what it is started with, and how one that was not gets it. */
export { boundedMemoryEnvironment, boundedMemoryFlags, smallMemoryFlags } from './flags.ts';
export { restartBounded } from './restart.ts';

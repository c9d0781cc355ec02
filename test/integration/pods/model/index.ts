/** Random pods on a real runtime, with what goes wrong around them. */
export { findLeaks } from './leaks.ts';
export { Life } from './life.ts';
export { NodeFaults } from './node-faults.ts';
export { NotedPod } from './noted-pod.ts';
export { inRuntime } from './runtime-hand.ts';
export { Story } from './story.ts';

/** Delays a shutdown of the machine until the pods have ended. */
export { BusConnection, findBusPath } from './bus/index.ts';
export { endGroups } from './end-groups.ts';
export type { EndingPod, ShutdownPeriod } from './groups.ts';
export { totalSeconds } from './groups.ts';
export { Inhibitor, inhibitorName } from './inhibitor.ts';
export { type Delay, followLogind, logindOn } from './logind.ts';
export { NodeShutdown, type NodeShutdownOptions } from './node-shutdown.ts';
export { raiseDelay } from './raise-delay.ts';
export { ShutdownTimes } from './shutdown-times.ts';

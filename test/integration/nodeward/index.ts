/** The built program under test: agents and control planes as supervised processes with folders of their own. */
export {
  type AgentStart,
  interrupt,
  launchAgent,
  noPressure,
  type RunningAgent,
  runAgentToItsEnd,
  type Summary,
  startAgent,
  untilReady,
} from './agent.ts';
export { type RunningApiServer, startApiServer } from './api-server.ts';
export { untilAtRest } from './at-rest.ts';
export { copyCheckout } from './checkout.ts';
export { ConfigMapRegisters } from './config-map-registers.ts';
export { type CurlAnswer, type CurlOptions, curl, curlArguments } from './curl.ts';
export { LeaseWatcher } from './lease-watcher.ts';
export { type Acknowledgement, compare, type LeaseRecord, writeUntilGone } from './lease-writer.ts';
export { controlPlaneOf, nodeward, processesNaming, program } from './program.ts';

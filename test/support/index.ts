/**
 * Every file of tests loads this: what would load much of the product with it, the runtime in memory and the plugin of
 * devices, is imported from its own file. Here are their types only.
 */
export { buildUnlessNewer } from './built-program.ts';
export { cgroupName, removeCgroup } from './cgroups.ts';
export { type CommandOptions, type CommandResult, runCommand, runSuccessfully } from './command.ts';
export { ContainerRuns } from './container-runs.ts';
export { removeRemainsOfEndedRuns } from './ended-runs.ts';
export type { FakeDevice, FakePlugin, FakePluginOptions } from './fake-device-plugin.ts';
export { freePort } from './free-port.ts';
export { jsonBody } from './json-body.ts';
export { killProcessesOf, removeLeftovers } from './leftovers.ts';
export { anchorsIn, brokenLinks, linksIn, pagesOf, unreachablePages } from './markdown-links.ts';
export { unmountBelow } from './mounts.ts';
export {
  childrenOf,
  environmentOf,
  findProcess,
  isAlive,
  listProcesses,
  type ProcessEntry,
  residentBytes,
  sendSignal,
} from './process-table.ts';
export {
  startOnTerminal,
  type TerminalEnd,
  type TerminalOptions,
  type TerminalProgram,
} from './pseudo-terminal.ts';
export { startReaper } from './reaper.ts';
export type { SimulatedRuntime, SimulatedRuntimeOptions } from './simulated-runtime.ts';
export type {
  Fault,
  SimulatedCall,
} from './simulated-runtime-faults.ts';
export type { SimulatedContainer, SimulatedSandbox } from './simulated-runtime-messages.ts';
export type { Behaviour, Behaviours } from './simulated-runtime-state.ts';
export {
  type Exit,
  type StartOptions,
  type SupervisedProcess,
  startProcess,
} from './supervised-process.ts';
export { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts';
export { folderPrefix, formatRun, markerName, ownRun } from './test-run.ts';
export { type WaitOptions, waitFor } from './wait-for.ts';

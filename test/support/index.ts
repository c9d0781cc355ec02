export { buildUnlessNewer } from './built-program.ts';
export { cgroupName, removeCgroup } from './cgroups.ts';
export { type CommandOptions, type CommandResult, runCommand, runSuccessfully } from './command.ts';
export {
  type FakeDevice,
  type FakePlugin,
  type FakePluginOptions,
  startFakePlugin,
} from './fake-device-plugin.ts';
export { freePort } from './free-port.ts';
export { jsonBody } from './json-body.ts';
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
  type Exit,
  type StartOptions,
  type SupervisedProcess,
  startProcess,
} from './supervised-process.ts';
export { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts';
export { type WaitOptions, waitFor } from './wait-for.ts';

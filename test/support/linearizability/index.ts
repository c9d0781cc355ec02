/** Whether what concurrent clients were answered could have come from a single copy. */
export { assertLinearizable } from './assert-linearizable.ts';
export { checkHistory, type Model, type Verdict } from './check.ts';
export { type Answer, HistoryRecorder, type Operation } from './history.ts';
export {
  type Held,
  type RegisterInput,
  type RegisterOutput,
  type RegisterState,
  registerModel,
  type Seen,
  versionTold,
} from './register.ts';
export { RegisterClient, type RegisterDeed, type Registers, registerDeeds } from './register-client.ts';
export { type ToldVersion, versionFault } from './versions.ts';

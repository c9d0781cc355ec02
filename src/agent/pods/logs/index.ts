/** The logs of containers: where they are, their rotation, and what a container left as its last message. */
export { findLoggedAttempts, removeLogsBefore } from './attempts.ts';
export { type HeldFolder, openFolderBelow, placeOfLog } from './folder.ts';
export { LinkKeeper, type LinkKeeperOptions, listContainerLogs } from './link-keeper.ts';
export { type LinkedLog, linkLog, logLinkName, pruneLogLinks, unlinkLog } from './log-links.ts';
export { type ContainerLog, type LogLimits, LogRotator, type LogRotatorOptions } from './log-rotator.ts';
export {
  containerLogFolder,
  containerLogPath,
  type LoggedPod,
  makeContainerLogFolder,
  makeLogFolder,
  namesIn,
  parsePodLogFolder,
  podLogFolder,
  removePodLogs,
} from './paths.ts';
export { fileOf, listRotated, type Rotated } from './rotated.ts';
export {
  cutToBytes,
  maxMessageBytes,
  messageBytesOf,
  readTerminationMessage,
  type TerminationMessageSource,
} from './termination-message.ts';

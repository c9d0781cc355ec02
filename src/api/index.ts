export * from './apply/index.ts';
export * from './codec/index.ts';
export * from './errors/index.ts';
export {
  type AskedGates,
  apiServerGates,
  type FeatureGates,
  featureGates,
  findForeignGateProblem,
  findGateProblem,
  gateNames,
  hasNoEffect,
  parseGates,
  resolveGates,
} from './feature-gates.ts';
export * from './kinds/index.ts';
export {
  checkLabelValue,
  checkName,
  checkNamePrefix,
  checkpointIdPattern,
  checkQualifiedName,
  isCheckpointId,
  isImageName,
  isImagePathPart,
  maxCheckpointIdLength,
} from './names/index.ts';
export { agentClientUser, requesterHeader } from './node-access.ts';
export * from './patch/index.ts';
export * from './placement/index.ts';
export { readLogOptions, writeLogOptions } from './pod-log-query.ts';
export { isRecord, removeWrittenZeros, replaceNulls, withWritten } from './schema/index.ts';
export * from './selectors/index.ts';
export { formatMicroTime, formatTime } from './time.ts';
export * from './validation/index.ts';
export { version } from './version.ts';

export { checkpointIdPattern, isCheckpointId, maxCheckpointIdLength } from './checkpoint-id.ts';
export { isImageName, isImagePathPart } from './image-name.ts';
export {
  checkDataKey,
  checkFinalizerName,
  checkLabelValue,
  checkName,
  checkNamePrefix,
  checkQualifiedName,
  type NameRule,
} from './names.ts';

export {
  checkDataKey,
  checkFinalizerName,
  checkLabelValue,
  checkName,
  checkNamePrefix,
  checkQualifiedName,
  type NameRule,
} from './names.ts';

export {
  checkLabelValue,
  checkName,
  checkNamePrefix,
  checkQualifiedName,
  type NameRule,
} from './names.ts';

export { fromStatus, StatusError, type StatusReason, statusReasons } from './status-error.ts';
export {
  alreadyExists,
  conflict,
  type Denied,
  forbidden,
  invalid,
  namespaceTerminating,
  notFound,
  qualifiedResource,
} from './statuses.ts';

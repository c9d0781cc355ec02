export { selectsAny } from './label-selectors.ts';
export { roleAggregation } from './service.ts';

export { selectsAny } from './label-test.ts';
export { roleAggregation } from './service.ts';

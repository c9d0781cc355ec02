export { roleAggregation } from './service.ts';

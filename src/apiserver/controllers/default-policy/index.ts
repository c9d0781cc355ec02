export { ensureDefaultPolicy } from './ensure.ts';

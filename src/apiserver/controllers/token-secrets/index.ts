export { tokenSecrets } from './service.ts';

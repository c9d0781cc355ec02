export { ownerGarbage } from './service.ts';
export { seemsDeleted } from './stored-text.ts';

export { create } from './create.ts';
export { remove } from './delete.ts';
export { removeCollection } from './delete-collection.ts';
export { get } from './get.ts';
export { list } from './list.ts';
export { booleanParameter } from './parameters.ts';
export { type Answer, type ApiRequest, bodyTypeOf } from './request.ts';
export { update } from './update.ts';
export { type WatchRequest, watch } from './watch.ts';

export { encodeSwagger2 } from './gnostic.ts';
export type { Served } from './objects.ts';
export { swagger2Document } from './v2.ts';
export { openApi3Document } from './v3.ts';

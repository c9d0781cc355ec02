export { namedNodes } from '../registry/index.ts';

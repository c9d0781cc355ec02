import type { Rule } from './case.ts';
import { directives } from './directives.ts';
import { elementOrder } from './element-order.ts';
import { keyedListDirectives } from './keyed-list-directives.ts';
import { keyedLists } from './keyed-lists.ts';
import { objects } from './objects.ts';
import { orderOfScalars } from './order-of-scalars.ts';
import { scalarLists } from './scalar-lists.ts';

export type { Case, Rule } from './case.ts';

export const rules: readonly Rule[] = [
  ...objects,
  ...keyedLists,
  ...keyedListDirectives,
  ...scalarLists,
  ...elementOrder,
  ...orderOfScalars,
  ...directives,
];

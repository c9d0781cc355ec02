import { field, int64, required, string, struct, time } from '../../schema/index.ts';

/** One aspect of the state of an object. */
export const condition = struct(
  'Condition',
  {
    type: required(1, string, 'Type of the condition.'),
    status: required(2, string, 'True, False or Unknown.'),
    observedGeneration: field(3, int64, 'The generation of the object that it was found out of.'),
    lastTransitionTime: required(4, time, 'When the status last changed.'),
    reason: required(5, string, 'Why, for programs.'),
    message: required(6, string, 'Why, for people.'),
  },
  { home: 'meta/v1' },
);

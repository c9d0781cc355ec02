import type { Infer } from '../../schema/index.ts';
import { field, list, required, string, struct } from '../../schema/index.ts';
import { objectStruct } from '../define.ts';
import { keyed } from '../pod-spec/merge.ts';

const componentCondition = struct('ComponentCondition', {
  type: required(1, string, 'Type of the condition.'),
  status: required(2, string, 'True, False or Unknown.'),
  message: field(3, string, 'What was found.'),
  error: field(4, string, 'What went wrong.'),
});

export const componentStatusRoot = objectStruct('ComponentStatus', {
  conditions: field(2, list(componentCondition, keyed('type')), 'Conditions of the object.'),
});

export interface ComponentStatus extends Infer<typeof componentStatusRoot> {}

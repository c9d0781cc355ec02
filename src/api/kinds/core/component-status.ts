import type { Infer } from '../../schema/index.ts';
import { field, list, required, string, struct } from '../../schema/index.ts';
import { textColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import { keyed } from '../pod-spec/merge.ts';

const componentCondition = struct('ComponentCondition', {
  type: required(1, string, 'Type of the condition.'),
  status: required(2, string, 'True, False or Unknown.'),
  message: field(3, string, 'What was found.'),
  error: field(4, string, 'What went wrong.'),
});

const componentStatusRoot = objectStruct('ComponentStatus', {
  conditions: field(2, list(componentCondition, keyed('type')), 'Conditions of the object.'),
});

export interface ComponentStatus extends Infer<typeof componentStatusRoot> {}

function healthOf({ conditions }: ComponentStatus): { status: string; message: string; error: string } {
  const { status, message = '', error = '' } = conditions?.find(({ type }) => type === 'Healthy') ?? {};
  return {
    status: status === undefined ? 'Unknown' : status === 'True' ? 'Healthy' : 'Unhealthy',
    message,
    error,
  };
}

/** Whether a part of the control plane works: found out when it is read, stored nowhere. */
export const componentStatus = defineKind<ComponentStatus>({
  group: '',
  version: 'v1',
  kind: 'ComponentStatus',
  doc: 'Whether a part of the control plane works. Deprecated; /readyz says more.',
  resource: 'componentstatuses',
  singular: 'componentstatus',
  shortNames: ['cs'],
  namespaced: false,
  virtual: true,
  verbs: ['get', 'list'],
  root: componentStatusRoot,
  columns: [
    textColumn('Status', 0, 'Healthy or not.', (component) => healthOf(component).status),
    textColumn('Message', 0, 'What was found.', (component) => healthOf(component).message),
    textColumn('Error', 0, 'What went wrong.', (component) => healthOf(component).error),
  ],
});

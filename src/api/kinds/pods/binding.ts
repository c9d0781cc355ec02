import type { Infer } from '../../schema/index.ts';
import { required } from '../../schema/index.ts';
import { requiredValue, unsupportedValue } from '../cause.ts';
import { objectReference } from '../core/object-reference.ts';
import { defineBody, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';

const root = objectStruct('Binding', {
  target: required(2, objectReference, 'The node that the pod is given to.'),
});

/** Assigns a pod to a node; the body of pods/binding. */
export interface Binding extends Infer<typeof root> {}

function validate({ target }: Binding): Cause[] {
  const { kind = '', name } = target;
  return [
    ...(kind === '' || kind === 'Node' ? [] : [unsupportedValue('target.kind', kind, ['Node', '<empty>'])]),
    ...(name ? [] : [requiredValue('target.name')]),
  ];
}

export const bindingBody = defineBody<Binding>({
  group: '',
  version: 'v1',
  kind: 'Binding',
  doc: 'Binds a pod to a node.',
  root,
  validate,
});

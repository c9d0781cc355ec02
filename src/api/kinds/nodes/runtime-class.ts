import { checkName } from '../../names/index.ts';
import type { Infer } from '../../schema/index.ts';
import { field, list, map, quantity, required, string, struct } from '../../schema/index.ts';
import { causesOf, duplicateValue, invalidUnless, invalidValue } from '../cause.ts';
import { ageColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { labelCauses } from '../meta/label-selector.ts';
import { toleration } from '../pod-spec/scheduling.ts';
import { resourceCauses } from '../pod-validation/validate-resources.ts';
import { tolerationCauses } from '../pod-validation/validate-scheduling.ts';
import type { Toleration } from '../pods/types.ts';

const root = objectStruct('RuntimeClass', {
  handler: required(2, string, 'What the container runtime calls the configuration that runs such pods.'),
  overhead: field(
    3,
    struct('Overhead', {
      podFixed: field(1, map(quantity), 'Added to what the containers of each pod request.'),
    }),
    'What running a pod takes beyond its containers.',
    { pointer: true },
  ),
  scheduling: field(
    4,
    struct('Scheduling', {
      nodeSelector: field(1, map(string, { atomic: true }), 'Labels of the nodes that know the handler.'),
      tolerations: field(2, list(toleration), 'Taints of those nodes that the pods tolerate.'),
    }),
    'Where such pods can run; on every node when absent.',
    { pointer: true },
  ),
});

/** A way in which the container runtimes of some nodes run pods, which pods choose by its name. */
export interface RuntimeClass extends Infer<typeof root> {}

function validate(next: RuntimeClass, old: RuntimeClass | undefined): Cause[] {
  const { handler, overhead, scheduling } = next;
  const isChanged = old !== undefined && old.handler !== handler;
  return [
    ...invalidUnless('handler', handler, checkName('label', handler)),
    ...(overhead === undefined
      ? []
      : resourceCauses({ limits: overhead.podFixed ?? {} }, new Set(), 'overhead')),
    ...labelCauses(scheduling?.nodeSelector ?? {}, 'scheduling.nodeSelector'),
    ...tolerationCauses(scheduling?.tolerations, 'scheduling.tolerations'),
    ...repeatedCauses(scheduling?.tolerations, 'scheduling.tolerations'),
    ...(isChanged ? [invalidValue('handler', handler, 'field is immutable')] : []),
  ];
}

/** How long a taint is tolerated does not tell tolerations apart. */
function repeatedCauses(tolerations: readonly Toleration[] | undefined, path: string): Cause[] {
  const earlier = new Set<string>();
  return causesOf(tolerations, (each, index) => {
    const { key = '', operator = '', value = '', effect = '' } = each;
    const identity = JSON.stringify([key, operator, value, effect]);
    const again = earlier.has(identity);
    earlier.add(identity);
    return again ? [duplicateValue(`${path}[${index}]`, each)] : [];
  });
}

export const runtimeClassKind = defineKind<RuntimeClass>({
  group: 'node',
  version: 'v1',
  kind: 'RuntimeClass',
  doc: 'A way in which the container runtimes of nodes run pods.',
  resource: 'runtimeclasses',
  singular: 'runtimeclass',
  namespaced: false,
  createOnUpdate: true,
  unconditionalUpdate: false,
  root,
  validate,
  columns: [
    {
      name: 'Handler',
      type: 'string',
      description: 'What the container runtime calls the configuration that runs such pods.',
      priority: 0,
      value: ({ handler }) => handler ?? '',
    },
    ageColumn,
  ],
});

import type { Infer } from '../../schema/index.ts';
import { field } from '../../schema/index.ts';
import { invalidValue, unsupportedValue } from '../cause.ts';
import { defineBody, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { deleteOptions } from '../meta/delete-options.ts';

const root = objectStruct('Eviction', {
  deleteOptions: field(2, deleteOptions, 'How the pod is deleted.'),
});

/** Removes a pod from its node; the body of pods/eviction. */
export interface Eviction extends Infer<typeof root> {}

const policies = ['Foreground', 'Background', 'Orphan'];
/** 68 years: a longer period ends beyond the range of the API's times. */
const maxGraceSeconds = 2 ** 31 - 1;

function validate({ deleteOptions: options = {} }: Eviction): Cause[] {
  const { gracePeriodSeconds = 0, propagationPolicy, dryRun = [] } = options;
  const tooLong = gracePeriodSeconds > maxGraceSeconds;
  const wrongRun = dryRun.find((stage) => stage !== 'All');
  return [
    ...(tooLong
      ? [
          invalidValue(
            'deleteOptions.gracePeriodSeconds',
            gracePeriodSeconds,
            `must not be more than ${maxGraceSeconds}`,
          ),
        ]
      : []),
    ...(propagationPolicy === undefined || policies.includes(propagationPolicy)
      ? []
      : [unsupportedValue('deleteOptions.propagationPolicy', propagationPolicy, [...policies, 'nil'])]),
    ...(wrongRun === undefined ? [] : [unsupportedValue('deleteOptions.dryRun', wrongRun, ['All'])]),
  ];
}

export const evictionBody = defineBody<Eviction>({
  group: 'policy',
  version: 'v1',
  olderApiVersions: ['policy/v1beta1'], // as in the reference, for clients before 1.22
  kind: 'Eviction',
  doc: 'Deletes a pod as gently as its rules demand.',
  root,
  validate,
});

import type { PriorityClass } from '../../../api/index.ts';
import { priorityClassKind, StatusError, systemPriorityClasses } from '../../../api/index.ts';
import type { Strategy } from '../strategy.ts';
import { findDefaultClass } from './pod-priority.ts';

/** Those of the system stay, and only one is that of pods that name none. */
export const priorityClassStrategy: Strategy<PriorityClass> = {
  admit(next, _old, { stored }) {
    const name = next.metadata?.name ?? '';
    const other = next.globalDefault === true ? findDefaultClass(stored)?.metadata?.name : undefined;
    if (other === undefined || other === name) return next;
    const why = `PriorityClass ${other} is already marked as default. Only one default can exist`;
    throw refusal(name, why);
  },
  beforeDelete({ metadata: { name = '' } = {} }) {
    if (!systemPriorityClasses.some(({ metadata }) => metadata?.name === name)) return;
    throw refusal(name, 'this is a system priority class and cannot be deleted');
  },
};

function refusal(name: string, why: string): StatusError {
  const kind = priorityClassKind.resource;
  const group = 'scheduling.k8s.io';
  return new StatusError('Forbidden', `${kind}.${group} ${JSON.stringify(name)} is forbidden: ${why}`, {
    details: { name, group, kind },
  });
}

import type { PriorityClass } from '../../../api/index.ts';
import { priorityClassKind, StatusError, systemPriorityClasses } from '../../../api/index.ts';
import type { Strategy } from '../strategy.ts';

/** Those of the system stay. */
export const priorityClassStrategy: Strategy<PriorityClass> = {
  beforeDelete({ metadata: { name = '' } = {} }) {
    if (!systemPriorityClasses.some(({ metadata }) => metadata?.name === name)) return;
    const kind = priorityClassKind.resource;
    const group = 'scheduling.k8s.io';
    const why = 'this is a system priority class and cannot be deleted';
    throw new StatusError('Forbidden', `${kind}.${group} ${JSON.stringify(name)} is forbidden: ${why}`, {
      details: { name, group, kind },
    });
  },
};

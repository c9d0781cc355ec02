import type { Namespace } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import type { Strategy } from '../strategy.ts';

/** Namespaces that exist from the first start and cannot be deleted. */
export const permanentNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'] as const;

const contentFinalizer = 'kubernetes';

/** A namespace is held by `spec.finalizers` until its content is gone. */
export const namespaceStrategy: Strategy<Namespace> = {
  beforeCreate(namespace) {
    const finalizers = new Set([...(namespace.spec?.finalizers ?? []), contentFinalizer]);
    const labels = {
      ...namespace.metadata?.labels,
      'kubernetes.io/metadata.name': namespace.metadata?.name ?? '',
    };
    return {
      ...namespace,
      metadata: { ...namespace.metadata, labels },
      spec: { ...namespace.spec, finalizers: [...finalizers] },
    };
  },
  beforeDelete(namespace) {
    const name = namespace.metadata?.name ?? '';
    if (permanentNamespaces.some((permanent) => permanent === name)) {
      throw new StatusError(
        'Forbidden',
        `namespaces "${name}" is forbidden: this namespace may not be deleted`,
        {
          details: { name, kind: 'namespaces' },
        },
      );
    }
  },
  onTerminating: (namespace) => ({ ...namespace, status: { ...namespace.status, phase: 'Terminating' } }),
  isHeld: (namespace) => (namespace.spec?.finalizers ?? []).length > 0,
};

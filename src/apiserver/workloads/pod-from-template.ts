import type { OwnerReference, Pod, PodTemplateSpec } from '../../api/index.ts';
import { checkNamePrefix } from '../../api/index.ts';

/** The pod that a workload makes of its template; the API makes its name, `OWNER-xxxxx`. A copy: it may be changed. */
export function podFromTemplate(
  template: PodTemplateSpec | undefined,
  owner: OwnerReference,
  namespace: string,
): Pod {
  const { labels, annotations, finalizers } = template?.metadata ?? {};
  return {
    metadata: {
      ...{ namespace, generateName: podNamePrefix(owner.name) },
      ...(labels === undefined ? {} : { labels: { ...labels } }),
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
      ownerReferences: [owner],
    },
    spec: structuredClone(template?.spec ?? { containers: [] }),
  };
}

function podNamePrefix(owner: string): string {
  const prefix = `${owner}-`;
  return checkNamePrefix('subdomain', prefix) === undefined ? prefix : owner;
}

import { certificateRequest } from './certificates.ts';
import type { Manifest } from './manifests.ts';
import {
  clusterRole,
  clusterRoleBinding,
  clusterStorage,
  configMap,
  csiNode,
  event,
  lease,
  node,
  persistentVolumeClaim,
  pod,
  role,
  roleBinding,
  secret,
  service,
  serviceAccount,
  signingRequest,
} from './manifests.ts';
import type { Shell } from './shell.ts';

/** The kinds of it that are in no namespace and do not go with one, as an argument. */
export const clusterKinds = 'no,csinode,pv,sc,volumeattachment,csidriver,csr,clusterrole,clusterrolebinding';

/** An object of each kind that is stored, all of one name, which is that of the shell's namespace. */
export async function oneOfEachKind(shell: Shell): Promise<Manifest[]> {
  const name = shell.namespace;
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    node(name),
    csiNode(name),
    ...clusterStorage(name),
    signingRequest(name, await certificateRequest(shell, '/CN=ann')),
    clusterRole(name),
    clusterRoleBinding(name, name),
    configMap(name, { text: 'two\nlines\n' }),
    secret(name, { key: 'hidden' }),
    serviceAccount(name),
    service(name),
    persistentVolumeClaim(name),
    pod(name),
    lease(name),
    role(name, 'get'),
    roleBinding(name, name),
    event(name, name, 'something'),
  ];
}

/** What `-f -` takes for many. */
export function listOf(items: readonly Manifest[]): Manifest {
  return { apiVersion: 'v1', kind: 'List', items };
}

export function labelled(object: Manifest, labels: Readonly<Record<string, string>>): Manifest {
  const { metadata } = object;
  return { ...object, metadata: { ...(typeof metadata === 'object' ? metadata : {}), labels } };
}

import type { Pod } from '../../api/index.ts';
import type { IdRange } from '../resources/index.ts';

/** By the numbers of the CRI. */
export const namespaceMode = { pod: 0, container: 1, node: 2, target: 3 } as const;

type Mode = (typeof namespaceMode)[keyof typeof namespaceMode];

export interface NamespaceOptions {
  readonly network: Mode;
  readonly pid: Mode;
  readonly ipc: Mode;
  readonly targetId?: string;
  readonly usernsOptions: { mode: Mode; uids: IdMapping[]; gids: IdMapping[] };
}

export interface IdMapping {
  readonly hostId: number;
  readonly containerId: number;
  readonly length: number;
}

/** Throws when the pod wants users of its own and has no ids for them: it would run as the users of the node. */
export function namespacesOf({ spec }: Pod, userIds: IdRange | undefined): NamespaceOptions {
  return {
    network: spec?.hostNetwork === true ? namespaceMode.node : namespaceMode.pod,
    pid: pidMode(spec),
    ipc: spec?.hostIPC === true ? namespaceMode.node : namespaceMode.pod,
    usernsOptions: userNamespace(spec?.hostUsers !== false, userIds),
  };
}

function pidMode(spec: Pod['spec']): Mode {
  if (spec?.hostPID === true) return namespaceMode.node;
  return spec?.shareProcessNamespace === true ? namespaceMode.pod : namespaceMode.container;
}

function userNamespace(isOfNode: boolean, userIds: IdRange | undefined): NamespaceOptions['usernsOptions'] {
  if (isOfNode) return { mode: namespaceMode.node, uids: [], gids: [] };
  if (userIds === undefined)
    throw new Error('the pod wants a user namespace, and no range of ids was set apart for it');
  const mappings = mappingsOf(userIds);
  return { mode: namespaceMode.pod, uids: mappings, gids: mappings };
}

export function mappingsOf({ hostId, length }: IdRange): IdMapping[] {
  return [{ hostId, containerId: 0, length }];
}

import type { ReplicaSet } from '../../../api/index.ts';
import { replicaSetKind, replicationControllerKind } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import type { OwnedObjects } from '../owned-objects.ts';
import { controllerOf } from '../owned-objects.ts';
import type { WorkloadOptions } from '../workload-controller.ts';
import { replicaController } from './service.ts';

/** Keeps the pods of ReplicaSets. */
export function replicaSets(options: WorkloadOptions, sets: OwnedObjects<ReplicaSet>): Service {
  return replicaController(
    {
      name: 'replica-sets',
      component: 'replicaset-controller',
      kind: replicaSetKind,
      selectorOf: ({ spec }) => spec?.selector,
      withStatus: (set, status) => ({ ...set, status }),
      follows: [{ resource: sets }],
      listRelated(set) {
        const owner = controllerOf(set)?.uid;
        const others = owner === undefined ? [] : sets.ownedBy(owner);
        return others.flatMap(({ metadata: { uid = '' } = {} }) =>
          uid === set.metadata?.uid ? [] : options.pods.ownedBy(uid),
        );
      },
    },
    options,
  );
}

/** Keeps the pods of ReplicationControllers. */
export function replicationControllers(options: WorkloadOptions): Service {
  return replicaController(
    {
      name: 'replication-controllers',
      component: 'replication-controller',
      kind: replicationControllerKind,
      selectorOf: ({ spec }) => spec?.selector && { matchLabels: spec.selector },
      withStatus(controller, { terminatingReplicas: _none, ...status }) {
        return { ...controller, status };
      },
      follows: [],
      listRelated: () => [],
    },
    options,
  );
}

import { serviceAccountKind } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { ControllerOptions } from './controller.ts';
import { inEveryNamespace } from './in-every-namespace.ts';

const context = { user: controlPlaneUser, dryRun: false };
const name = 'default';

/** Keeps a ServiceAccount `default` in every namespace: the one of programs that name no other; as in the reference. */
export function defaultServiceAccounts(options: ControllerOptions): Service {
  const resource = options.registry.of(serviceAccountKind);
  return inEveryNamespace('default-service-accounts', options, {
    ...{ resource, name },
    followsChanges: false,
    async keep(namespace, found) {
      if (found === undefined) await resource.create(namespace, { metadata: { name, namespace } }, context);
    },
  });
}

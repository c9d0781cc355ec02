import { namespaceKind, StatusError, serviceAccountKind } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import { followWritten } from '../registry/index.ts';
import type { ControllerOptions } from './controller.ts';
import { controller } from './controller.ts';
import { findReadable } from './presence.ts';

const context = { user: controlPlaneUser, dryRun: false };
const accountName = 'default';

/** Keeps a ServiceAccount `default` in every namespace: the one of programs that name no other; as in the reference. */
export function defaultServiceAccounts(options: ControllerOptions): Service {
  const { registry, storage } = options;
  const namespaces = registry.of(namespaceKind);
  const accounts = registry.of(serviceAccountKind);

  async function work(namespace: string): Promise<void> {
    const stored = findReadable(storage, namespaces.prefix('') + namespace);
    if (stored === undefined || storage.lookup(accounts.prefix(namespace) + accountName) !== undefined)
      return;
    if (namespaces.encoding.read(stored).metadata?.deletionTimestamp !== undefined) return;
    await accounts
      .create(namespace, { metadata: { name: accountName, namespace } }, context)
      .catch(ignoreRace);
  }

  return controller('default-service-accounts', options, (enqueue) => ({
    follows: [
      { resource: namespaces, ...followWritten((key) => enqueue(namespaces.placeOf(key).name)) },
      {
        resource: accounts,
        gone({ key }) {
          const { namespace, name } = accounts.placeOf(key);
          if (name === accountName) enqueue(namespace);
        },
      },
    ],
    work,
  }));
}

/** It was created by another client, or the namespace was deleted meanwhile. */
function ignoreRace(error: unknown): void {
  const races = ['AlreadyExists', 'NotFound', 'Forbidden'];
  if (!(error instanceof StatusError && races.includes(error.reason))) throw error;
}

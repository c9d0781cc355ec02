import { namespaceKind, StatusError, serviceAccountKind } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import { lookingAt } from '../registry/index.ts';
import type { ControllerOptions } from './controller.ts';
import { controller } from './controller.ts';

const context = { user: controlPlaneUser, dryRun: false };
const accountName = 'default';

/** Keeps a ServiceAccount `default` in every namespace, whom a program acts as that names no other; as the reference. */
export function defaultServiceAccounts(options: ControllerOptions): Service {
  const { registry, storage } = options;
  const namespaces = registry.of(namespaceKind);
  const accounts = registry.of(serviceAccountKind);

  async function work(namespace: string): Promise<void> {
    const stored = storage.get(namespaces.prefix('') + namespace);
    if (stored === undefined || storage.get(accounts.prefix(namespace) + accountName) !== undefined) return;
    if (namespaces.encoding.read(stored).metadata?.deletionTimestamp !== undefined) return;
    await accounts
      .create(namespace, { metadata: { name: accountName, namespace } }, context)
      .catch(ignoreOvertaken);
  }

  return controller('default-service-accounts', options, (look) => ({
    follows: [
      { resource: namespaces, ...lookingAt((key) => look(namespaces.placeOf(key).name)) },
      {
        resource: accounts,
        gone({ key }) {
          const { namespace, name } = accounts.placeOf(key);
          if (name === accountName) look(namespace);
        },
      },
    ],
    work,
  }));
}

/** Somebody else made it, or the namespace went meanwhile. */
function ignoreOvertaken(error: unknown): void {
  const overtaken = ['AlreadyExists', 'NotFound', 'Forbidden'];
  if (!(error instanceof StatusError && overtaken.includes(error.reason))) throw error;
}

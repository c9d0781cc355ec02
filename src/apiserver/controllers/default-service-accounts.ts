import { namespaceKind, StatusError, serviceAccountKind } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { untilAborted } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { ControllerOptions } from './namespace-deletion.ts';
import { createWorkQueue } from './work-queue.ts';

const context = { user: controlPlaneUser, dryRun: false };
const accountName = 'default';

/** Keeps a ServiceAccount `default` in every namespace, whom a program acts as that names no other; as the reference. */
export function defaultServiceAccounts({ registry, storage, clock, log }: ControllerOptions): Service {
  const namespaces = registry.of(namespaceKind);
  const accounts = registry.of(serviceAccountKind);
  const [namespacePrefix, accountPrefix] = [namespaces.prefix(''), accounts.prefix('')];

  async function work(namespace: string): Promise<void> {
    const stored = storage.get(namespacePrefix + namespace);
    if (stored === undefined || storage.get(accounts.prefix(namespace) + accountName) !== undefined) return;
    if (namespaces.encoding.read(stored).metadata?.deletionTimestamp !== undefined) return;
    await accounts
      .create(namespace, { metadata: { name: accountName, namespace } }, context)
      .catch(ignoreOvertaken);
  }

  /** The namespace that may lack its account after a change of this key. */
  function concerned(key: string, isGone: boolean): string | undefined {
    if (key.startsWith(namespacePrefix)) return isGone ? undefined : key.slice(namespacePrefix.length);
    if (!isGone || !key.startsWith(accountPrefix)) return undefined;
    const [namespace, name] = key.slice(accountPrefix.length).split('/');
    return name === accountName ? namespace : undefined;
  }

  return {
    name: 'default-service-accounts',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      const queue = createWorkQueue({ work, clock, log });
      using _listener = storage.onApply(({ key, next }) => {
        const namespace = concerned(key, next === null);
        if (namespace !== undefined) queue.add(namespace);
      });
      for (const { key } of storage.list(namespacePrefix, '', 0).items) {
        queue.add(key.slice(namespacePrefix.length));
      }
      ready();
      await Promise.all([queue.run(signal), untilAborted(signal)]);
    },
  };
}

/** Somebody else made it, or the namespace went meanwhile. */
function ignoreOvertaken(error: unknown): void {
  const overtaken = ['AlreadyExists', 'NotFound', 'Forbidden'];
  if (!(error instanceof StatusError && overtaken.includes(error.reason))) throw error;
}

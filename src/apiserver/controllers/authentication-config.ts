import type { ConfigMap } from '../../api/index.ts';
import { configMapKind, StatusError } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import { followWritten } from '../registry/index.ts';
import type { ControllerOptions } from './controller.ts';
import { controller } from './controller.ts';
import { authenticationConfigName as name, roleNamespace as namespace } from './default-policy/index.ts';
import { findReadable, isUnreadable } from './presence.ts';

export interface AuthenticationConfigOptions extends ControllerOptions {
  /** PEM of all authorities that sign client certificates. Read at each start: those of a file may have become others. */
  readClientCas(): Promise<string>;
}

const context = { user: controlPlaneUser, dryRun: false };
const field = 'client-ca-file';

/**
 * Keeps the ConfigMap `extension-apiserver-authentication` in kube-system, by which other servers of a cluster know callers with
 * client certificates: the reference's scheduler and controller manager, and servers of further API groups. Other keys of it
 * are left as they are.
 */
export function authenticationConfig(options: AuthenticationConfigOptions): Service {
  const { registry, storage } = options;
  const resource = registry.of(configMapKind);
  const key = resource.prefix(namespace) + name;

  async function work(authorities: string): Promise<void> {
    const stored = findReadable(storage, key);
    if (stored === undefined) {
      const made = { metadata: { name, namespace }, data: { [field]: authorities } };
      if (!isUnreadable(storage, key)) await resource.create(namespace, made, context).catch(ignoreRace);
      return;
    }
    if (resource.encoding.read(stored).data?.[field] === authorities) return;
    const make = (now: ConfigMap): ConfigMap => ({ ...now, data: { ...now.data, [field]: authorities } });
    await resource.change({ namespace, name }, { make, operation: 'Update' }, '', context).catch(ignoreRace);
  }

  return controller('authentication-config', options, (enqueue) => {
    let authorities = '';
    const onKey = (changed: string) => changed === key && enqueue(key);
    return {
      follows: [{ resource, namespace, ...followWritten(onKey), gone: (previous) => onKey(previous.key) }],
      async prepare() {
        authorities = await options.readClientCas();
        enqueue(key);
      },
      work: async () => (authorities === '' ? undefined : await work(authorities)),
    };
  });
}

/** Another has made, changed or deleted it meanwhile, or made it immutable. */
function ignoreRace(error: unknown): void {
  const races = ['AlreadyExists', 'Conflict', 'NotFound', 'Invalid'];
  if (!(error instanceof StatusError && races.includes(error.reason))) throw error;
}

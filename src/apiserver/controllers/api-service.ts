import type { Service as ApiService } from '../../api/index.ts';
import { serviceKind } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { untilAborted } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import { followWritten } from '../registry/index.ts';
import type { ControllerOptions } from './controller.ts';
import { controller } from './controller.ts';
import { findReadable, isUnreadable } from './presence.ts';
import { ignoreRace } from './races.ts';

export interface ApiServiceOptions extends ControllerOptions {
  /** Resolves with the port of the API once it listens. */
  readonly port: Promise<number>;
}

const context = { user: controlPlaneUser, dryRun: false };
const [namespace, name] = ['default', 'kubernetes'];

/**
 * Keeps the Service `kubernetes` in `default`, by which programs look for the API. It has no address of its own: where no proxy
 * for Services runs, each node tells its pods the address by which they reach the API from there. One that an
 * operator has made another one is left as it is.
 */
export function apiService(options: ApiServiceOptions): Service {
  const { registry, storage } = options;
  const services = registry.of(serviceKind);
  const key = services.prefix(namespace) + name;
  let port = 0;

  async function work(): Promise<void> {
    const stored = findReadable(storage, key);
    if (stored === undefined) {
      if (!isUnreadable(storage, key))
        await services.create(namespace, wanted(port), context).catch(ignoreRace);
      return;
    }
    const found = services.encoding.read(stored);
    if (found.metadata?.deletionTimestamp !== undefined || isRight(found, port)) return;
    const make = (now: ApiService): ApiService => ({ ...now, spec: { ...now.spec, ports: portsOf(port) } });
    await services.change({ namespace, name }, { make, operation: 'Update' }, '', context).catch(ignoreRace);
  }

  return controller('api-service', options, (enqueue, ended) => {
    const onKey = (changed: string) => changed === key && enqueue(key);
    return {
      follows: [
        { resource: services, namespace, ...followWritten(onKey), gone: (previous) => onKey(previous.key) },
      ],
      async prepare() {
        await Promise.race([options.port.then((found) => (port = found)), untilAborted(ended)]);
        enqueue(key);
      },
      work: async () => (port === 0 ? undefined : await work()),
    };
  });
}

function wanted(port: number): ApiService {
  return {
    metadata: { name, namespace, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: { clusterIP: 'None', ports: portsOf(port) },
  };
}

const portsOf = (port: number) => [{ name: 'https', protocol: 'TCP', port, targetPort: port }];

function isRight({ spec: { clusterIP, ports = [] } = {} }: ApiService, port: number): boolean {
  if (clusterIP !== 'None') return true;
  const [first] = ports;
  return ports.length === 1 && first?.name === 'https' && first.port === port;
}

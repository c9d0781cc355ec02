import type { Service } from '../../api/index.ts';
import type { ApiForPods } from '../api-relay/index.ts';
import type { KnownServices } from './services.ts';

/**
 * The Services, with that of the API itself, `kubernetes` in `default`: programs in pods find the API by its variables. One
 * that has an address there is what it is, as where a proxy for Services runs; else it stands for where the agent finds the
 * API, so that no proxy is needed.
 */
export function withApiService(known: KnownServices, where: () => ApiForPods): KnownServices {
  return {
    services() {
      const services = known.services();
      if (services.state !== 'present') return services;
      const others = services.object.filter((service) => !isOfApi(service));
      const found = services.object.find(isOfApi);
      const own = found !== undefined && hasAddress(found) ? found : toService(where());
      return { state: 'present', object: own === undefined ? others : [...others, own] };
    },
    onKnown: (listener) => known.onKnown(listener),
  };
}

function isOfApi({ metadata }: Service): boolean {
  return metadata?.namespace === 'default' && metadata.name === 'kubernetes';
}

function hasAddress({ spec: { clusterIP = '' } = {} }: Service): boolean {
  return clusterIP !== '' && clusterIP !== 'None';
}

function toService(where: ApiForPods): Service | undefined {
  if ('missing' in where) return undefined;
  const { host, port } = where.address;
  return {
    metadata: { namespace: 'default', name: 'kubernetes' },
    spec: { clusterIP: host, ports: [{ name: 'https', protocol: 'TCP', port }] },
  };
}

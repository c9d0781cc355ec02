import { ageColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause, Column } from '../kind.ts';
import { changeableMetadata } from '../kind.ts';
import { changeCauses } from './address-causes.ts';
import { balancerStatusCauses, serviceCauses, serviceWarnings } from './causes.ts';
import { withAllocated, withNewAddresses } from './changes.ts';
import { withDefaults } from './defaults.ts';
import type { Service } from './description.ts';
import { serviceRoot } from './description.ts';

/** What its writer means by what is left out; it depends on what else is defaulted. */
function prepare(next: Service, old: Service | undefined): Service {
  return old === undefined ? withNewAddresses(next) : withAllocated(withDefaults(next), withDefaults(old));
}

function validate(next: Service, old: Service | undefined): Cause[] {
  const changes = old === undefined ? [] : changeCauses(next.spec ?? {}, old.spec ?? {});
  return [...changes, ...serviceCauses(next), ...balancerStatusCauses(next)];
}

function column(
  name: string,
  priority: number,
  description: string,
  value: (service: Service) => string,
): Column<Service> {
  return { name, type: 'string', description, priority, value };
}

const none = '<none>';

function outsideText({ spec = {}, status }: Service): string {
  const { type, externalIPs = [], externalName = '' } = spec;
  switch (type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIPs.join(',') || none;
    case 'LoadBalancer': {
      const ingress = status?.loadBalancer?.ingress ?? [];
      const reached = new Set(ingress.map(({ ip, hostname }) => ip || hostname || '').filter(Boolean));
      return [...[...reached].sort(), ...externalIPs].join(',') || '<pending>';
    }
    case 'ExternalName':
      return externalName;
    default:
      return '<unknown>';
  }
}

function portsText({ spec }: Service): string {
  const texts = (spec?.ports ?? []).map(({ port, nodePort = 0, protocol = '' }) =>
    nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
  );
  return texts.join(',') || none;
}

function selectorText({ spec }: Service): string {
  const labels = Object.entries(spec?.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  return labels.sort().join(',') || none;
}

/** Its addresses and ports on the nodes are unique in the cluster: the registry hands them out. */
export const serviceKind = defineKind<Service>({
  group: '',
  version: 'v1',
  kind: 'Service',
  doc: 'An address and ports that stand for the pods with some labels.',
  resource: 'services',
  singular: 'service',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  root: serviceRoot,
  nameRule: 'hostLabel',
  createOnUpdate: true,
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      fields: ['status'],
      metadata: changeableMetadata,
    },
  ],
  prepare,
  default: withDefaults,
  validate,
  warnings: serviceWarnings,
  columns: [
    column('Type', 0, 'How the service is reached.', ({ spec }) => spec?.type ?? ''),
    column('Cluster-IP', 0, 'Its address in the cluster.', ({ spec }) => spec?.clusterIPs?.[0] ?? none),
    column('External-IP', 0, 'Addresses from outside the cluster.', outsideText),
    column('Port(s)', 0, 'Ports of the service, and of the nodes.', portsText),
    ageColumn,
    column('Selector', 1, 'Labels of the pods that serve it.', selectorText),
  ],
  selectable: [
    { path: 'spec.clusterIP', value: ({ spec }) => spec?.clusterIP ?? '' },
    { path: 'spec.type', value: ({ spec }) => spec?.type ?? '' },
  ],
});

import type { Service } from '../../api/index.ts';

/** The variables that tell a pod where Services are, by the reference's names. */
export function serviceVariables(
  services: readonly Service[],
  namespace: string,
  linksServices: boolean,
): ReadonlyMap<string, string> {
  const byName = new Map<string, Service>();
  for (const service of services.filter(hasAddress)) {
    const { name = '', namespace: own } = service.metadata ?? {};
    const isApi = own === 'default' && name === 'kubernetes';
    const isLinked = own === namespace && linksServices;
    // as in the reference, that of the own namespace counts where both have the name
    if (isLinked || (isApi && !byName.has(name))) byName.set(name, service);
  }
  return new Map([...byName.values()].flatMap(variablesOf));
}

/** One without an address has no variables, and hides none of the same name. */
function hasAddress({ spec: { clusterIP = '' } = {} }: Service): boolean {
  return clusterIP !== '' && clusterIP !== 'None';
}

type Variable = [name: string, value: string];

function variablesOf({ metadata, spec: { clusterIP = '', ports = [] } = {} }: Service): Variable[] {
  const [first] = ports;
  if (first === undefined) return [];
  const prefix = toVariableName(metadata?.name ?? '');
  return [
    [`${prefix}_SERVICE_HOST`, clusterIP],
    [`${prefix}_SERVICE_PORT`, String(first.port)],
    ...ports.flatMap(({ name = '', port }): Variable[] =>
      name === '' ? [] : [[`${prefix}_SERVICE_PORT_${toVariableName(name)}`, String(port)]],
    ),
    [`${prefix}_PORT`, urlOf(clusterIP, first)],
    ...ports.flatMap((port) => portVariables(prefix, clusterIP, port)),
  ];
}

type Port = NonNullable<NonNullable<Service['spec']>['ports']>[number];

function portVariables(prefix: string, address: string, port: Port): Variable[] {
  const name = `${prefix}_PORT_${port.port}_${protocolOf(port).toUpperCase()}`;
  return [
    [name, urlOf(address, port)],
    [`${name}_PROTO`, protocolOf(port)],
    [`${name}_PORT`, String(port.port)],
    [`${name}_ADDR`, address],
  ];
}

function urlOf(address: string, port: Port): string {
  const host = address.includes(':') ? `[${address}]` : address;
  return `${protocolOf(port)}://${host}:${port.port}`;
}

const protocolOf = ({ protocol }: Port) => (protocol || 'TCP').toLowerCase();

const toVariableName = (name: string) => name.replaceAll('-', '_').toUpperCase();

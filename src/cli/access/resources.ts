import { isRecord } from '../../api/index.ts';
import { tryParseJson } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';

/** A resource as discovery tells of it. */
export interface ServedResource {
  group: string;
  version: string;
  resource: string;
  /** The plural, the singular, the kind and the short names, all in lower case. */
  names: readonly string[];
  namespaced: boolean;
  subresources: readonly string[];
}

/** A resource as it was named on the command line, and what there is to say of it. */
export interface NamedResource {
  group: string;
  resource: string;
  /** Unknown for what is not served. */
  namespaced: boolean | undefined;
  notes: readonly string[];
}

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** What the server serves, in the order in which names are looked up; empty when it does not tell this caller. */
export async function servedResources(client: ApiClient, signal: AbortSignal): Promise<ServedResource[]> {
  const answers = ['/api', '/apis'].map((path) => client.request({ method: 'GET', path, accept, signal }));
  const documents = await Promise.all(answers);
  return documents.flatMap(({ code, body }) => {
    if (code === 403 || code === 404) return [];
    if (code === 200) return resourcesIn(tryParseJson(body));
    throw new Error(`${client.server} answers ${code} when it is asked what it serves`); // a guess would be a wrong answer
  });
}

function resourcesIn(document: unknown): ServedResource[] {
  return recordsIn(document, 'items').flatMap((item) => {
    const metadata = isRecord(item['metadata']) ? item['metadata'] : {};
    return recordsIn(item, 'versions').flatMap((version) =>
      recordsIn(version, 'resources').map((resource) =>
        resourceIn(resource, text(metadata['name']), text(version['version'])),
      ),
    );
  });
}

function resourceIn(told: Record<string, unknown>, group: string, version: string): ServedResource {
  const { resource, singularResource, responseKind, shortNames, scope } = told;
  const kind = isRecord(responseKind) ? responseKind['kind'] : '';
  const short: unknown[] = Array.isArray(shortNames) ? shortNames : [];
  const names = [resource, singularResource, kind, ...short].map((name) => text(name).toLowerCase());
  return {
    group,
    version,
    resource: text(resource),
    names: names.filter((name) => name !== ''),
    namespaced: scope === 'Namespaced',
    subresources: recordsIn(told, 'subresources').map((part) => text(part['subresource'])),
  };
}

function recordsIn(value: unknown, name: string): Record<string, unknown>[] {
  const list: unknown = isRecord(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** `po`, `Pod`, `deployments.apps`, `deployments.v1.apps`. What is not served is taken as it is, with a note. */
export function namedResource(
  name: string,
  subresource: string,
  served: readonly ServedResource[],
): NamedResource {
  if (name === '*') return { group: '*', resource: '*', namespaced: undefined, notes: [] };
  const dot = name.indexOf('.');
  const [plain, group] = dot === -1 ? [name, undefined] : [name.slice(0, dot), name.slice(dot + 1)];
  const found = served.find((each) => each.names.includes(plain.toLowerCase()) && isGroup(each, group));
  if (found === undefined) {
    const notes = [`the server serves no ${JSON.stringify(name)}: it is taken as it is`];
    return { group: group ?? '', resource: plain, namespaced: undefined, notes };
  }
  const isKnown = subresource === '' || subresource === '*' || found.subresources.includes(subresource);
  const notes = isKnown
    ? []
    : [`the server serves no ${found.resource}/${subresource}: it is taken as it is`];
  return { group: found.group, resource: found.resource, namespaced: found.namespaced, notes };
}

function isGroup({ group, version }: ServedResource, wanted: string | undefined): boolean {
  if (wanted === undefined || wanted === group) return true;
  return wanted === (group === '' ? version : `${version}.${group}`);
}

import { isRecord } from '../../api/index.ts';
import { findNearestName, tryParseJson } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';

/** A resource in the discovery documents. */
interface ServedResource {
  group: string;
  version: string;
  resource: string;
  /** Plural, singular, kind and short names, in lower case. */
  names: readonly string[];
  namespaced: boolean;
  subresources: readonly string[];
}

/** The resource that a name on the command line stands for. */
interface ResolvedResource {
  group: string;
  resource: string;
  /** Undefined if the server does not serve it. */
  namespaced: boolean | undefined;
  notes: readonly string[];
}

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** The resources of the server, in order of precedence; empty if the caller may not read the discovery documents. */
export async function discoverResources(client: ApiClient, signal: AbortSignal): Promise<ServedResource[]> {
  const responses = ['/api', '/apis'].map((path) => client.request({ method: 'GET', path, accept, signal }));
  const documents = await Promise.all(responses);
  return documents.flatMap(({ code, body }) => {
    if (code === 403 || code === 404) return [];
    if (code === 200) return readDocument(tryParseJson(body));
    throw new Error(`${client.server} answers ${code} to discovery`); // without it a name could be resolved wrongly
  });
}

function readDocument(document: unknown): ServedResource[] {
  return listRecords(document, 'items').flatMap((item) => {
    const metadata = isRecord(item['metadata']) ? item['metadata'] : {};
    return listRecords(item, 'versions').flatMap((version) =>
      listRecords(version, 'resources').map((resource) =>
        readResource(resource, text(metadata['name']), text(version['version'])),
      ),
    );
  });
}

function readResource(entry: Record<string, unknown>, group: string, version: string): ServedResource {
  const { resource, singularResource, responseKind, shortNames, scope } = entry;
  const kind = isRecord(responseKind) ? responseKind['kind'] : '';
  const short: unknown[] = Array.isArray(shortNames) ? shortNames : [];
  const names = [resource, singularResource, kind, ...short].map((name) => text(name).toLowerCase());
  return {
    group,
    version,
    resource: text(resource),
    names: names.filter((name) => name !== ''),
    namespaced: scope === 'Namespaced',
    subresources: listRecords(entry, 'subresources').map((part) => text(part['subresource'])),
  };
}

function listRecords(value: unknown, name: string): Record<string, unknown>[] {
  const list: unknown = isRecord(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Resolves `po`, `Pod`, `deployments.apps`, `deployments.v1.apps`. An unknown name is used as it is, with a note. */
export function resolveResource(
  name: string,
  subresource: string,
  served: readonly ServedResource[],
): ResolvedResource {
  if (name === '*') return { group: '*', resource: '*', namespaced: undefined, notes: [] };
  const dot = name.indexOf('.');
  const [plain, group] = dot === -1 ? [name, undefined] : [name.slice(0, dot), name.slice(dot + 1)];
  const found = served.find((each) => each.names.includes(plain.toLowerCase()) && matchesGroup(each, group));
  if (found === undefined) {
    const near = findNearestName(plain.toLowerCase(), [...new Set(served.map(({ resource }) => resource))]);
    const meant = near === undefined ? 'it is taken as it is' : `did you mean ${near}?`;
    const notes = [`the server serves no ${JSON.stringify(name)}: ${meant}`];
    return { group: group ?? '', resource: plain, namespaced: undefined, notes };
  }
  const isKnown = subresource === '' || subresource === '*' || found.subresources.includes(subresource);
  const notes = isKnown
    ? []
    : [`the server serves no ${found.resource}/${subresource}: it is taken as it is`];
  return { group: found.group, resource: found.resource, namespaced: found.namespaced, notes };
}

function matchesGroup({ group, version }: ServedResource, wanted: string | undefined): boolean {
  if (wanted === undefined || wanted === group) return true;
  return wanted === (group === '' ? version : `${version}.${group}`);
}

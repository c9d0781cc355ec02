import type { Kind } from '../../../api/index.ts';
import type { GroupVersion } from './groups.ts';
import { describeBodyKind, sortSubresources } from './legacy-discovery.ts';

export const aggregatedKind = 'APIGroupDiscoveryList';
export const aggregatedVersions = ['v2', 'v2beta1'] as const;

/**
 * All groups with their versions and resources in one document (`apidiscovery.k8s.io`); the two versions differ only in
 * their name. As in the reference, an empty group and version of a kind mean those of the surrounding entry.
 */
export function createAggregatedDiscovery(
  groups: readonly GroupVersion[],
  groupSuffix: string,
  apiVersion: string,
): object {
  const items = [...Map.groupBy(groups, ({ group }) => group)].map(([name, versions]) => ({
    metadata: name === '' ? {} : { name },
    versions: versions.map(({ version, kinds }) => ({
      version,
      resources: kinds.map((kind) => resourceOf(kind, groupSuffix)),
      freshness: 'Current',
    })),
  }));
  return { kind: aggregatedKind, apiVersion, metadata: {}, items };
}

function resourceOf(kind: Kind, groupSuffix: string): object {
  const { resource, singular, namespaced, shortNames, categories, verbs } = kind;
  const parts = sortSubresources(kind).map((part) => ({
    subresource: part.name,
    responseKind: { group: '', version: '', ...describeBodyKind(kind, part, groupSuffix) },
    verbs: part.verbs.toSorted(),
  }));
  return {
    resource,
    responseKind: { group: '', version: '', kind: kind.kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: verbs.toSorted(),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(parts.length === 0 ? {} : { subresources: parts }),
  };
}

import { isDeepStrictEqual } from 'node:util';
import type { ClusterRole } from '../../../src/api/index.ts';
import {
  clusterRoleKind,
  clusterTrustBundleKind,
  namespaceKind,
  serviceAccountKind,
  serviceCIDRKind,
  serviceKind,
} from '../../../src/api/index.ts';
import { configMapKind } from '../../../src/api/kinds/core/config-map.ts';
import type { ApiClient } from '../../../src/client/index.ts';
import { waitFor } from '../../support/index.ts';

/**
 * Resolves when the controllers have made what every cluster has: a control plane serves before. From then on it writes nothing
 * that nobody asked for, but its own Leases.
 */
export async function untilAtRest(client: ApiClient): Promise<void> {
  await waitFor('the API’s Service', () => client.get(serviceKind, 'kubernetes', { namespace: 'default' }));
  await waitFor('the range of Services', async () => {
    const range = await client.get(serviceCIDRKind, 'kubernetes');
    return range?.status?.conditions?.some(({ type }) => type === 'Ready') === true;
  });
  await waitFor('the bundle of the API’s authority', async () => {
    return (await client.list(clusterTrustBundleKind)).items.length > 0;
  });
  const { items: namespaces } = await client.list(namespaceKind);
  for (const { metadata: { name: namespace = '' } = {} } of namespaces) {
    await waitFor(`the account of ${namespace}`, () =>
      client.get(serviceAccountKind, 'default', { namespace }),
    );
    await waitFor(`the authority of ${namespace}`, () =>
      client.get(configMapKind, 'kube-root-ca.crt', { namespace }),
    );
  }
  await waitFor('the aggregated roles', async () => {
    const { items } = await client.list(clusterRoleKind);
    return items.every((role) => isComplete(role, items));
  });
}

/** Whether a role that aggregates has the rules of all that it selects; any other is complete. */
function isComplete(role: ClusterRole, all: readonly ClusterRole[]): boolean {
  const selectors = role.aggregationRule?.clusterRoleSelectors ?? [];
  const isSelected = ({ metadata: { labels = {} } = {} }: ClusterRole) =>
    selectors.some(({ matchLabels = {} }) =>
      Object.entries(matchLabels).every(([name, value]) => labels[name] === value),
    );
  const rules = all.filter(isSelected).flatMap((each) => each.rules ?? []);
  return rules.every((rule) => role.rules?.some((own) => isDeepStrictEqual(own, rule)));
}

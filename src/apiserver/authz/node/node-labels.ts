/*
 * Labels steer workloads, so a node may not set just any label on itself: of the labels in the cluster's domains it may set
 * those that describe the node, and those with the two prefixes for kubelets (specification of the reference's kubelet).
 */

const nodeLabels: ReadonlySet<string> = new Set([
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
]);

const clusterDomains = ['kubernetes.io', 'k8s.io'];
const ownDomains = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const reservedDomain = 'node-restriction.kubernetes.io';

/** Whether a node may set, change and remove a label on its own Node. */
export function isNodeLabel(key: string): boolean {
  const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  if (isBelow(domain, reservedDomain)) return false;
  if (!clusterDomains.some((each) => isBelow(domain, each))) return true;
  return nodeLabels.has(key) || ownDomains.some((each) => isBelow(domain, each));
}

function isBelow(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}

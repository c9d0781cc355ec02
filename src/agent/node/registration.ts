import type { Node, Taint } from '../../api/index.ts';
import { checkLabelValue } from '../../api/index.ts';
import type { SystemFacts } from './system-facts.ts';

/** The labels that the agent sets on its node. */
export function nodeLabels(hostname: string, facts: SystemFacts): Record<string, string> {
  return {
    'kubernetes.io/hostname': toLabelValue(hostname),
    'kubernetes.io/os': facts.operatingSystem,
    'kubernetes.io/arch': facts.architecture,
  };
}

/** A host name may be longer than a label's value may be, or have characters that it may not have. */
function toLabelValue(hostname: string): string {
  if (checkLabelValue(hostname) === undefined) return hostname;
  const allowed = hostname.replace(/[^A-Za-z0-9_.-]/g, '-').slice(0, 63);
  return allowed.replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
}

/** What the agent sets on a Node that it creates; an existing Node is not changed. */
export interface Registration {
  /** False: the agent does not create the Node. */
  readonly register: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly providerID: string;
}

export const plainRegistration: Registration = { register: true, labels: {}, taints: [], providerID: '' };

/** A node to create. The agent's own labels win. */
export function createNodeObject(
  name: string,
  labels: Readonly<Record<string, string>>,
  wanted: Registration,
): Node {
  const { taints } = wanted;
  return {
    metadata: { name, labels: { ...wanted.labels, ...labels } },
    spec: {
      ...(taints.length === 0 ? {} : { taints: [...taints] }),
      ...(wanted.providerID === '' ? {} : { providerID: wanted.providerID }),
    },
  };
}

/** With it an agent that ran no pods made its Node, so that schedulers pass it by. */
const runsNoPods = 'nodeward.io/runs-no-pods';

/** Whether the Node still says that its agent runs no pods. */
export function saysRunsNoPods({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === runsNoPods) ?? false;
}

/** Returns the agent's labels that the Node lacks or has with other values; undefined when there are none. */
export function findMissingLabels(
  node: Node,
  labels: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  const present = node.metadata?.labels ?? {};
  const missing = Object.entries(labels).filter(([key, value]) => present[key] !== value);
  return missing.length === 0 ? undefined : Object.fromEntries(missing);
}

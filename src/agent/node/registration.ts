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

/** A host name may be longer than a label's value, and what a host calls itself may break its rules. */
function toLabelValue(hostname: string): string {
  if (checkLabelValue(hostname) === undefined) return hostname;
  const allowed = hostname.replace(/[^A-Za-z0-9_.-]/g, '-').slice(0, 63);
  return allowed.replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
}

/** What a node that the agent makes has besides; a node that is there already is left as it is. */
export interface Registration {
  /** False: the node is not made, others do it. */
  readonly register: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly providerID: string;
}

export const plainRegistration: Registration = { register: true, labels: {}, taints: [], providerID: '' };

/** A node to create. The agent's own labels win. */
export function newNode(name: string, labels: Readonly<Record<string, string>>, wanted: Registration): Node {
  return {
    metadata: { name, labels: { ...wanted.labels, ...labels } },
    spec: {
      ...(wanted.taints.length === 0 ? {} : { taints: [...wanted.taints] }),
      ...(wanted.providerID === '' ? {} : { providerID: wanted.providerID }),
    },
  };
}

/** Those of the agent's labels that the node lacks, or has otherwise; undefined when it has them all. */
export function missingLabels(
  node: Node,
  labels: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  const present = node.metadata?.labels ?? {};
  const missing = Object.entries(labels).filter(([key, value]) => present[key] !== value);
  return missing.length === 0 ? undefined : Object.fromEntries(missing);
}

import type { Node } from '../../api/index.ts';
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

/** A node to create. */
export function newNode(name: string, labels: Record<string, string>): Node {
  return { metadata: { name, labels }, spec: {} };
}

/** The node with the agent's labels beside those of others, or undefined when it has them already. */
export function withLabels(node: Node, labels: Readonly<Record<string, string>>): Node | undefined {
  const present = node.metadata?.labels ?? {};
  const missing = Object.entries(labels).some(([key, value]) => present[key] !== value);
  if (!missing) return undefined;
  return { ...node, metadata: { ...node.metadata, labels: { ...present, ...labels } } };
}

/** How the control plane watches over its nodes; what is left out is as in the reference. */
export interface NodeLifecycleSettings {
  /** Domain prefix of the taints that are set (`{taint_domain}`); default `kubernetes.io`. */
  taintDomain?: string | undefined;
  /** How long a node may be silent (specification, section 2.5) or not ready (section 3.2); default 40 s. */
  gracePeriodMs?: number | undefined;
  /** How often is looked whose time is over; default 5 s. */
  monitorPeriodMs?: number | undefined;
  /** So many nodes of a zone are given up a second: their pods are evicted; default 0.1. */
  evictionRate?: number | undefined;
  /** The same in a large zone of which most nodes are not ready; default 0.01. */
  secondaryEvictionRate?: number | undefined;
  /** From which share of nodes that are not ready a zone counts as disrupted; default 0.55. */
  unhealthyZoneThreshold?: number | undefined;
  /** From how many nodes more than this a zone is large; in a smaller one that is disrupted nobody is evicted; default 50. */
  largeZoneSize?: number | undefined;
  /** How many pods that have ended are kept, the youngest; 0: all; default 12,500. */
  terminatedPodThreshold?: number | undefined;
}

export type Settings = { [K in keyof NodeLifecycleSettings]-?: NonNullable<NodeLifecycleSettings[K]> };

export function withDefaults(given: NodeLifecycleSettings): Settings {
  return {
    taintDomain: given.taintDomain ?? 'kubernetes.io',
    gracePeriodMs: given.gracePeriodMs ?? 40_000,
    monitorPeriodMs: given.monitorPeriodMs ?? 5_000,
    evictionRate: given.evictionRate ?? 0.1,
    secondaryEvictionRate: given.secondaryEvictionRate ?? 0.01,
    unhealthyZoneThreshold: given.unhealthyZoneThreshold ?? 0.55,
    largeZoneSize: given.largeZoneSize ?? 50,
    terminatedPodThreshold: given.terminatedPodThreshold ?? 12_500,
  };
}

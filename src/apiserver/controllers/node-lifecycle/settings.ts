/** How the control plane watches over its nodes; the defaults are those of the reference. */
export interface NodeLifecycleSettings {
  /** Domain prefix of the taints that are set (`{taint_domain}`); default `kubernetes.io`. */
  taintDomain?: string | undefined;
  /** How long a node may be silent (specification, section 2.5) or not ready (section 3.2); default 40 s. */
  gracePeriodMs?: number | undefined;
  /** How often the nodes are checked; default 5 s. */
  monitorPeriodMs?: number | undefined;
  /** Nodes of a zone that are given up each second, so that their pods are evicted; default 0.1. */
  evictionRate?: number | undefined;
  /** The same in a large zone of which most nodes are not ready; default 0.01. */
  secondaryEvictionRate?: number | undefined;
  /** A zone counts as disrupted when at least this share of its nodes is not ready; default 0.55. */
  unhealthyZoneThreshold?: number | undefined;
  /** A zone with more nodes than this is large; in a disrupted zone that is not large no pod is evicted; default 50. */
  largeZoneSize?: number | undefined;
  /** How many terminated pods are kept, the youngest; 0: all; default 12,500. */
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

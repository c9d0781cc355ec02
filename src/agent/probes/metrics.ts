import { Counter, Histogram, MetricsRegistry } from '../../base/index.ts';
import type { ProbeKind } from './types.ts';
import { probeKinds } from './types.ts';

/** Whose probe it is. */
export interface ProbedNames {
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  readonly container: string;
}

const results = ['successful', 'failed', 'unknown'] as const;
export type ProbeResult = (typeof results)[number];

/** As the reference names them, word by word: `Readiness`. */
export function titleOf(kind: ProbeKind): string {
  return `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}`;
}

/** The metrics of probes, under the reference's names, in a registry of their own: they have a series for each container. */
export class ProbeMetrics {
  readonly registry = new MetricsRegistry();
  readonly #total = new Counter({
    name: 'prober_probe_total',
    help: 'Probes of containers, by kind and result: successful, failed, or unknown, which could not be run.',
    labelNames: ['probe_type', 'result', 'container', 'pod', 'namespace', 'pod_uid'],
    registers: [this.registry],
  });
  /** By pod uid, then by container. */
  readonly #names = new Map<string, Map<string, ProbedNames>>();
  readonly #duration = new Histogram({
    name: 'prober_probe_duration_seconds',
    help: 'How long probes took that succeeded.',
    labelNames: ['probe_type', 'container', 'pod', 'namespace'],
    registers: [this.registry],
  });

  probed(kind: ProbeKind, names: ProbedNames, result: ProbeResult, seconds: number): void {
    const { podUid: pod_uid, ...others } = names;
    const ofPod = this.#names.get(pod_uid) ?? new Map<string, ProbedNames>();
    this.#names.set(pod_uid, ofPod.set(names.container, names));
    const probe_type = titleOf(kind);
    this.#total.inc({ ...others, probe_type, pod_uid, result });
    if (result === 'successful') this.#duration.observe({ ...others, probe_type }, seconds);
  }

  /** Nothing of the pod is probed any more. */
  forget(podUid: string): void {
    for (const names of this.#names.get(podUid)?.values() ?? []) this.#remove(names);
    this.#names.delete(podUid);
  }

  #remove({ podUid: pod_uid, ...others }: ProbedNames): void {
    for (const kind of probeKinds) {
      const labels = { ...others, probe_type: titleOf(kind) };
      for (const result of results) this.#total.remove({ ...labels, pod_uid, result });
      this.#duration.remove(labels);
    }
  }
}

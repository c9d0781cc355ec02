import type { MetricsRegistry } from '../../../base/index.ts';
import { Counter, createMetrics, Gauge } from '../../../base/index.ts';
import type { ProfileChange, RegisteredProfile } from './types.ts';

const states = ['valid', 'invalid', 'unreadable', 'missing', 'settling'] as const;
type State = (typeof states)[number];

export interface RegistryMetrics {
  changed(change: ProfileChange): void;
  readFailed(): void;
}

export interface CountedProfiles {
  all(): readonly RegisteredProfile[];
  isNamed(path: string): boolean;
}

/** Registers the metrics; the profiles are counted when the metrics are collected. */
export function registryMetrics(
  registry: MetricsRegistry = createMetrics(),
  { all, isNamed }: CountedProfiles,
): RegistryMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string, counts: (profile: RegisteredProfile) => boolean) =>
    new Gauge({
      name,
      help,
      labelNames: ['verdict'],
      registers,
      collect() {
        const found = all().filter(counts);
        for (const state of states) {
          this.set({ verdict: state }, found.filter((each) => stateOf(each) === state).length);
        }
      },
    });
  gauge(
    'nodeward_seccomp_profiles',
    'Seccomp profiles by verdict: valid, invalid, unreadable, missing (a pod names it), settling (none yet).',
    () => true,
  );
  gauge('nodeward_seccomp_profiles_in_use', 'Those that pods of this node name, by verdict.', ({ path }) =>
    isNamed(path),
  );
  const changes = new Counter({
    name: 'nodeward_seccomp_profile_changes_total',
    help: 'Verdicts on seccomp profiles that have changed, by what the profile is now; removed: it is gone.',
    labelNames: ['verdict'],
    registers,
  });
  const failures = new Counter({
    name: 'nodeward_seccomp_profile_read_failures_total',
    help: 'Seccomp profiles that were there and could not be read.',
    registers,
  });
  return {
    changed: ({ after }) => changes.inc({ verdict: after?.kind ?? 'removed' }),
    readFailed: () => failures.inc(),
  };
}

function stateOf({ verdict }: RegisteredProfile): State {
  return verdict?.kind ?? 'settling';
}

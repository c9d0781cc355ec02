import type { ContainerUse, PodUse } from '../../../../src/agent/eviction/index.ts';
import type { Pod } from '../../../../src/api/index.ts';

export const mi = 2 ** 20;

type Spec = NonNullable<Pod['spec']>;
type Quantities = Readonly<Record<string, string>>;

export interface SamplePod {
  readonly priority?: number;
  readonly requests?: Quantities;
  readonly limits?: Quantities;
  readonly graceSeconds?: number;
  readonly madeSeconds?: number;
  readonly volumes?: Spec['volumes'];
  readonly more?: Partial<Spec>;
}

/** A pod with one container, `main`. */
export function podOf(name: string, sample: SamplePod = {}): Pod {
  const { priority, requests = {}, limits = {}, graceSeconds = 30, madeSeconds = 0, volumes, more } = sample;
  return {
    metadata: {
      ...{ name, namespace: 'default', uid: `uid-${name}` },
      creationTimestamp: new Date(madeSeconds * 1000).toISOString(),
    },
    spec: {
      containers: [{ name: 'main', image: 'app:1', resources: { requests, limits } }],
      terminationGracePeriodSeconds: graceSeconds,
      ...(priority === undefined ? {} : { priority }),
      ...(volumes === undefined ? {} : { volumes }),
      ...more,
    },
  };
}

export function useOf(use: Partial<PodUse> & { readonly main?: Omit<ContainerUse, 'name'> } = {}): PodUse {
  const { main, ...rest } = use;
  return { containers: main === undefined ? [] : [{ name: 'main', ...main }], volumes: [], ...rest };
}

export const disk = (bytes: number, inodes = 0) => ({ bytes, inodes });

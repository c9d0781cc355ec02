import type { Figures, PodFigures, UseFigures } from './figures.ts';

export const sortKeys = ['memory', 'cpu', 'disk', 'name'] as const;
export type SortKey = (typeof sortKeys)[number];

/** Which pods are to be looked at; a text that is empty chooses all. */
export interface Choice {
  readonly namespace: string;
  readonly pod: string;
  /** Part of `NAMESPACE/NAME`. */
  readonly text: string;
}

const sizeOf: Readonly<Record<SortKey, (use: UseFigures) => number | undefined>> = {
  memory: ({ memoryBytes }) => memoryBytes,
  cpu: ({ cpuNanoCores }) => cpuNanoCores,
  disk: ({ ephemeralBytes }) => ephemeralBytes,
  name: () => 0,
};

/** The chosen ones, what uses most first, their containers too; those of which nothing is known come last. */
export function choosePods({ pods }: Figures, choice: Choice, sort: SortKey): PodFigures[] {
  const text = choice.text.toLowerCase();
  const isChosen = (pod: PodFigures) =>
    (choice.namespace === '' || pod.namespace === choice.namespace) &&
    (choice.pod === '' || pod.name === choice.pod) &&
    nameOf(pod).toLowerCase().includes(text);
  return sorted(pods.filter(isChosen), sort, nameOf).map((pod) => ({
    ...pod,
    containers: sorted(pod.containers, sort, ({ name }) => name),
  }));
}

export const nameOf = ({ namespace, name }: Pick<PodFigures, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;

function sorted<T extends UseFigures>(all: readonly T[], sort: SortKey, name: (each: T) => string): T[] {
  const size = (each: T) => sizeOf[sort](each) ?? -1;
  return all.toSorted((a, b) => size(b) - size(a) || (name(a) < name(b) ? -1 : 1));
}

import type { Tone } from '../terminal/colour.ts';
import type { Column } from '../terminal/result.ts';
import { formatBytes } from '../terminal/text.ts';
import { nameOf } from './choice.ts';
import type { ContainerFigures, PodFigures } from './figures.ts';

/** A pod, or one of its containers below it. */
export type Row =
  | { readonly pod: PodFigures; readonly container?: undefined }
  | { readonly pod: PodFigures; readonly container: ContainerFigures };

export interface TopColumn extends Column<Row> {
  /** On a terminal; of the first column, the least. */
  readonly width: number;
  /** Where a line is too short for all, those with the highest fall away first. */
  readonly rank: number;
  readonly align: 'left' | 'right';
}

/** Texts that are wider than their column are cut on a terminal. */
export const columns: readonly TopColumn[] = [
  { ...{ head: 'POD', width: 16, rank: 0, align: 'left' }, cell: nameCell },
  { ...figure('CPU', 6, 2), cell: (row) => formatCpu(useOf(row).cpuNanoCores) },
  { ...figure('MEMORY', 10, 1), cell: (row) => sizeCell(useOf(row).memoryBytes) },
  { ...figure('LIMIT', 10, 9), cell: (row) => sizeCell(useOf(row).memoryLimitBytes), wide: true },
  {
    ...figure('%LIM', 4, 3),
    cell: (row) => formatShare(useOf(row).memoryShare),
    tone: (row) => toneOf(useOf(row).memoryShare, 0.75, 0.9),
  },
  {
    ...figure('%THR', 4, 6),
    cell: (row) => formatShare(useOf(row).throttledShare),
    tone: (row) => toneOf(useOf(row).throttledShare, 0.25, 0.5),
  },
  { ...figure('DISK', 10, 7), cell: (row) => sizeCell(useOf(row).ephemeralBytes) },
  { ...figure('RST', 4, 5), cell: (row) => countCell(useOf(row).restarts) },
  { ...figure('READY', 5, 4), cell: readyCell, tone: (row) => (isReady(row) ? undefined : 'doubtful') },
  {
    ...{ head: 'STATUS', width: 17, rank: 8, align: 'left' },
    cell: (row) => useOf(row).status ?? '-',
    tone: (row) => (/^(?:Running|running|-)$/.test(useOf(row).status ?? '-') ? undefined : 'doubtful'),
  },
  { ...{ head: 'UID', width: 36, rank: 10, align: 'left' }, cell: ({ pod }) => pod.uid, wide: true },
];

function figure(head: string, width: number, rank: number) {
  return { head, width, rank, align: 'right' } as const;
}

/** The pods, each with its containers after it where those are wanted. */
export function rowsOf(pods: readonly PodFigures[], withContainers: boolean): Row[] {
  if (!withContainers) return pods.map((pod) => ({ pod }));
  return pods.flatMap((pod) => [{ pod }, ...pod.containers.map((container) => ({ pod, container }))]);
}

/** What other commands take for it. */
export function rowName({ pod, container }: Row): string {
  return container === undefined ? nameOf(pod) : `${nameOf(pod)}/${container.name}`;
}

const useOf = ({ pod, container }: Row) => container ?? pod;

function nameCell({ pod, container }: Row): string {
  return container === undefined ? nameOf(pod) : `  ${container.name}`;
}

function readyCell({ pod, container }: Row): string {
  if (container !== undefined)
    return container.isReady === undefined ? '-' : container.isReady ? 'yes' : 'no';
  return pod.ready === undefined ? '-' : `${pod.ready.count}/${pod.ready.of}`;
}

function isReady({ pod: { ready }, container }: Row): boolean {
  if (container !== undefined) return container.isReady !== false;
  return ready === undefined || ready.count === ready.of;
}

const sizeCell = (bytes: number | undefined) => (bytes === undefined ? '-' : formatBytes(bytes));
const countCell = (count: number | undefined) => (count === undefined ? '-' : String(count));

/** Thousandths of a CPU, as kubectl writes them; from ten on whole ones. */
function formatCpu(nanoCores: number | undefined): string {
  if (nanoCores === undefined) return '-';
  const millis = Math.round(nanoCores / 1e6);
  return millis < 100_000 ? `${millis}m` : String(Math.round(millis / 1000));
}

/** `47%`; below a half in a hundred, but not nothing, `<1%`. */
export function formatShare(share: number | undefined): string {
  if (share === undefined) return '-';
  const percent = Math.round(share * 100);
  return percent === 0 && share > 0 ? '<1%' : `${percent}%`;
}

/** By a share of what there is. */
export function toneOf(share: number | undefined, doubtful: number, bad: number): Tone | undefined {
  if (share === undefined || share < doubtful) return undefined;
  return share < bad ? 'doubtful' : 'bad';
}

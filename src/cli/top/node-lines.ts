import type { Tone } from '../terminal/colour.ts';
import { formatBytes, formatRoughDuration } from '../terminal/text.ts';
import { formatShare, toneOf } from './columns.ts';
import type { DiskFigures, Figures, NodeFigures, PodFigures } from './figures.ts';
import type { Line, Span } from './line.ts';
import { joinFitting, padLeft, padRight, span } from './line.ts';

/**
 * The node: what it is short of, then CPU, memory, disks, processes and pods, the most important first. What does not fit falls
 * away from the right.
 */
export function nodeLines({ node, pods }: Figures, width: number, nowMs: number): Line[] {
  const rows = [
    cpuRow(node),
    memoryRow(node),
    ...node.disks.map((disk, index) => diskRow(disk, index === 0 ? node.io.psi : undefined)),
    processesRow(node),
    podsRow(node, pods),
  ];
  const known = rows.filter((row) => row !== undefined);
  const hasBars = known.every((row) => fits(piecesOf(row, true), width)); // they say nothing that the shares do not
  return [
    ...node.pressures.map(({ condition, since, found }) => {
      const age = formatRoughDuration(nowMs - Date.parse(since));
      return joinFitting([span(`${condition} for ${age}: ${found}`, 'bad')], width);
    }),
    ...known.map((row) => joinFitting(piecesOf(row, hasBars), width)),
  ];
}

interface NodeRow {
  readonly what: string;
  readonly used: string;
  readonly of: string | undefined;
  readonly share: number | undefined;
  readonly notes: readonly (Span | undefined)[];
}

const [whatWidth, amountWidth, shareWidth, barWidth] = [10, 24, 4, 20] as const;

const fits = (pieces: readonly Span[], width: number): boolean =>
  joinFitting(pieces, width).length === 2 * pieces.length - 1;

function piecesOf({ what, used, of, share, notes }: NodeRow, hasBar: boolean): Span[] {
  const amount = of === undefined ? used : `${used} of ${of}`;
  const tone = toneOf(share, 0.8, 0.95);
  return [
    span(padRight(what, whatWidth) + padRight(amount, amountWidth)),
    span(padLeft(formatShare(share), shareWidth), tone),
    ...(hasBar ? [span(formatBar(share), tone)] : []),
    ...notes.filter((note) => note !== undefined),
  ];
}

function formatBar(share = 0): string {
  const filled = Math.round(Math.min(Math.max(share, 0), 1) * barWidth);
  return `[${'='.repeat(filled)}${' '.repeat(barWidth - filled)}]`;
}

function cpuRow({ cpu: { usedNanoCores, allocatableNanoCores, psi } }: NodeFigures): NodeRow {
  const cores = (nano: number) => (nano / 1e9).toFixed(2);
  return {
    ...amountOf('cpu', usedNanoCores, allocatableNanoCores, cores),
    notes: [psiNote('PSI', psi)],
  };
}

function memoryRow({ memory }: NodeFigures): NodeRow {
  const { workingSetBytes, allocatableBytes, untilEvictionBytes, psi } = memory;
  return {
    ...amountOf('memory', workingSetBytes, allocatableBytes, formatBytes),
    notes: [evictionNote(untilEvictionBytes, formatBytes), psiNote('PSI', psi)],
  };
}

/** `psi`: of all disks. */
function diskRow(disk: DiskFigures, psi: number | undefined): NodeRow {
  const { of, usedBytes, capacityBytes, untilEvictionBytes, inodesShare } = disk;
  const inodes =
    inodesShare === undefined
      ? undefined
      : span(`inodes ${formatShare(inodesShare)}`, toneOf(inodesShare, 0.8, 0.95));
  return {
    ...amountOf(of === 'node' ? 'disk' : of, usedBytes, capacityBytes, formatBytes),
    notes: [evictionNote(untilEvictionBytes, formatBytes), inodes, psiNote('PSI', psi)],
  };
}

function processesRow({ processes: { used, max, untilEviction } }: NodeFigures): NodeRow | undefined {
  if (used === undefined) return undefined;
  return { ...amountOf('processes', used, max, String), notes: [evictionNote(untilEviction, formatCount)] };
}

function podsRow({ podSlots: { used, allocatable } }: NodeFigures, pods: readonly PodFigures[]): NodeRow {
  const known = pods.filter(({ ready }) => ready !== undefined);
  const unready = known.filter(({ ready }) => ready !== undefined && ready.count < ready.of).length;
  const note = known.length === 0 ? undefined : unreadyNote(unready);
  return { ...amountOf('pods', used, allocatable, String), notes: [note] };
}

const unreadyNote = (count: number): Span =>
  count === 0 ? span('all ready') : span(`${count} not ready`, 'doubtful');

function amountOf(
  what: string,
  used: number | undefined,
  total: number | undefined,
  format: (amount: number) => string,
): Omit<NodeRow, 'notes'> {
  const hasShare = used !== undefined && total !== undefined && total > 0;
  return {
    what,
    used: used === undefined ? '-' : format(used),
    of: total === undefined ? undefined : format(total),
    share: hasShare ? used / total : undefined,
  };
}

function evictionNote(amount: number | undefined, format: (amount: number) => string): Span | undefined {
  if (amount === undefined) return undefined;
  if (amount < 0) return span(`${format(-amount)} below eviction threshold`, 'bad');
  return span(`${format(amount)} until eviction`);
}

const formatCount = (count: number): string => String(Math.floor(count));

/** From these percentages on tasks wait noticeably. */
const [doubtfulPsi, badPsi] = [10, 40];

function psiNote(label: string, psi: number | undefined): Span | undefined {
  if (psi === undefined) return undefined;
  const tone: Tone | undefined = psi < doubtfulPsi ? undefined : psi < badPsi ? 'doubtful' : 'bad';
  return span(`${label} ${psi.toFixed(1)}%`, tone);
}

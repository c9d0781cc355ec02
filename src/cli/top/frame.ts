import type { SortKey } from './choice.ts';
import { choosePods } from './choice.ts';
import type { Row, TopColumn } from './columns.ts';
import { columns, rowsOf } from './columns.ts';
import type { Figures } from './figures.ts';
import type { Line, Span } from './line.ts';
import { cutLine, faint, joinFitting, padLeft, padRight, span, widthOf } from './line.ts';
import { nodeLines } from './node-lines.ts';
import type { Extent, View } from './view.ts';
import { firstWithin } from './view.ts';

/** All that a frame is made of. */
export interface FrameInput {
  /** As last answered. */
  readonly figures: Figures;
  readonly view: View;
  /** Of the flags. */
  readonly namespace: string;
  readonly pod: string;
  readonly intervalMs: number;
  /** Since when the agent has not answered, and why; undefined: it answers. */
  readonly absence: Absence | undefined;
  readonly nowMs: number;
  readonly size: Size;
}

export interface Absence {
  /** Wall clock. */
  readonly sinceMs: number;
  readonly why: string;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface Frame {
  /** At most as many as the screen has rows, and none longer than a row. */
  readonly lines: readonly Line[];
  readonly extent: Extent;
}

/** Below this many rows there is no help, and below twice of it less of the node. */
const minRows = 8;

/**
 * The whole screen: a title, the node, the pods as far as there is room, and the keys in the last row. The figures are greyed while
 * the agent is away.
 */
export function renderFrame(input: FrameInput): Frame {
  const { size, figures, view, absence, namespace, pod, nowMs } = input;
  const pods = choosePods(figures, { namespace, pod, text: view.filter }, view.sort);
  const rows = rowsOf(pods, view.containers);
  const node = nodeLines(figures, size.columns, nowMs).slice(0, maxNodeLines(size));
  const hasHelp = size.rows >= minRows;
  const page = Math.max(0, size.rows - node.length - 2 - (hasHelp ? 1 : 0));
  const extent = { rows: rows.length, page };
  const first = firstWithin(view.first, extent);
  const table = tableLines(rows.slice(first, first + page), rows, size.columns, view.sort);
  const body = [...node, ...table];
  const blank = Array.from({ length: Math.max(0, page + 1 - table.length) }, (): Line => []);
  const lines = [
    titleLine(input),
    ...(absence === undefined ? body : body.map(faint)),
    ...(hasHelp ? [...blank, helpLine(input, first, extent)] : []),
  ];
  return { lines: lines.slice(0, size.rows), extent };
}

/** So that pods have at least half of a low screen. */
function maxNodeLines({ rows }: Size): number {
  return rows >= 2 * minRows + 4 ? rows : Math.max(0, Math.floor((rows - 4) / 2));
}

/** `nodeward top  NODE  12:03:04Z  every 2s`, or since when the agent has not answered. */
function titleLine({ figures, view, absence, nowMs, intervalMs, size, namespace, pod }: FrameInput): Line {
  const name = span(`nodeward top  ${figures.node.name}`);
  if (absence !== undefined) {
    const seconds = Math.max(0, Math.floor((nowMs - absence.sinceMs) / 1000));
    const since = `no figures since ${timeOfDay(absence.sinceMs)} (${seconds}s)`;
    return cutLine([name, { text: '  ' }, span(`${since}: ${absence.why}`, 'bad')], size.columns);
  }
  const scope = [namespace === '' ? '' : `namespace ${namespace}`, pod === '' ? '' : `pod ${pod}`];
  return joinFitting(
    [
      name,
      ...(view.isPaused ? [span('paused', 'doubtful')] : []),
      span(timeOfDay(Date.parse(figures.time))),
      span(`every ${intervalMs / 1000}s`),
      ...scope.filter((text) => text !== '').map((text) => span(text)),
    ],
    size.columns,
  );
}

const timeOfDay = (ms: number): string =>
  Number.isFinite(ms) ? `${new Date(ms).toISOString().slice(11, 19)}Z` : '-';

function tableLines(visible: readonly Row[], all: readonly Row[], width: number, sort: SortKey): Line[] {
  const chosen = chooseColumns(width);
  const rest = chosen.slice(1).reduce((sum, column) => sum + column.width + 2, 0);
  const wanted = all.reduce((most, row) => Math.max(most, columns[0]?.cell(row).length ?? 0), minNameWidth);
  const nameWidth = Math.max(1, Math.min(wanted, width - rest));
  const toLine = (texts: readonly Span[]): Line =>
    cutLine(
      chosen.flatMap((column, index): Span[] => {
        const { text = '', tone } = texts[index] ?? {};
        const columnWidth = index === 0 ? nameWidth : column.width;
        const padded = column.align === 'left' ? padRight(text, columnWidth) : padLeft(text, columnWidth);
        return [...(index === 0 ? [] : [{ text: '  ' }]), { text: padded, tone }];
      }),
      width,
    );
  const heads = chosen.map(({ head }) => span(head === headOf[sort] ? `${head}*` : head));
  return [toLine(heads), ...visible.map((row) => toLine(chosen.map((column) => cellOf(column, row))))];
}

const minNameWidth = 16;
const headOf: Readonly<Record<SortKey, string>> = { memory: 'MEMORY', cpu: 'CPU', disk: 'DISK', name: 'POD' };

const cellOf = (column: TopColumn, row: Row): Span => span(column.cell(row), column.tone?.(row));

/** As many as fit, in their order. */
function chooseColumns(width: number): TopColumn[] {
  let chosen = columns.filter((column) => column.wide !== true);
  const total = () => chosen.reduce((sum, column) => sum + column.width + 2, -2);
  while (chosen.length > 1 && total() > width) {
    const last = Math.max(...chosen.map(({ rank }) => rank));
    chosen = chosen.filter(({ rank }) => rank !== last);
  }
  return chosen;
}

/** The filter while it is typed, else the keys; at the right which of the rows are on the screen. */
function helpLine({ view, size }: FrameInput, first: number, { rows, page }: Extent): Line {
  const isWhole = rows <= page;
  const position = isWhole ? '' : `${first + 1}-${Math.min(rows, first + page)} of ${rows}`;
  const width = size.columns - (position === '' ? 0 : position.length + 2);
  const left = view.isTyping ? [span(`filter: ${view.filter}_`)] : [...filterSpan(view.filter), ...help];
  const line = joinFitting(left, width);
  if (position === '') return line;
  return cutLine(
    [...line, { text: ' '.repeat(Math.max(0, width - widthOf(line)) + 2) }, span(position)],
    size.columns,
  );
}

const filterSpan = (filter: string): Span[] => (filter === '' ? [] : [span(`filter: ${filter}`, 'doubtful')]);

const help: readonly Span[] = [
  'q quit',
  'c m d n sort',
  'p containers',
  '/ filter',
  'space pause',
  'arrows scroll',
].map((text) => span(text, 'faint'));

import type { TableResult } from '../terminal/result.ts';
import type { Choice, SortKey } from './choice.ts';
import { choosePods } from './choice.ts';
import type { Row } from './columns.ts';
import { columns, rowName, rowsOf } from './columns.ts';
import type { Figures } from './figures.ts';
import { paintLine } from './line.ts';
import { nodeLines } from './node-lines.ts';

export interface OnceOptions extends Omit<Choice, 'text'> {
  readonly sort: SortKey;
  readonly containers: boolean;
}

/** Wide enough for all that is said of the node. */
const width = 120;

/** The node and a table of its pods. The document has the chosen pods alone, with their containers in any case. */
export function describeUse(figures: Figures, options: OnceOptions, nowMs: number): TableResult<Row> {
  const { namespace, pod, sort, containers } = options;
  const pods = choosePods(figures, { namespace, pod, text: '' }, sort);
  const node = nodeLines(figures, width, nowMs).map((line) => `${paintLine(line, (text) => text)}\n`);
  return {
    document: { ...figures, pods },
    rows: rowsOf(pods, containers),
    columns,
    name: rowName,
    before: `${node.join('')}\n`,
    empty: `no pods${namespace === '' ? '' : ` in namespace ${namespace}`}${pod === '' ? '' : ` with the name ${pod}`}\n`,
  };
}

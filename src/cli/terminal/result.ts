import type { Paint, Tone } from './colour.ts';
import { formatTable } from './table.ts';

/** What a command has found out, as programs, scripts and people read it. */
export type Result<Row = unknown> = TableResult<Row> | TextResult;

export interface Column<Row> {
  readonly head: string;
  cell(row: Row): string;
  /** Only with `-o wide`. */
  readonly wide?: boolean;
  tone?(row: Row): Tone | undefined;
}

/** A list. */
export interface TableResult<Row> {
  /** For `-o json` and `-o yaml`. */
  readonly document: object;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** For `-o name`: what other commands take as their argument; empty for a row without a name, several for one of several. */
  name(row: Row): string | readonly string[];
  /** Lines before and after the table. */
  readonly before?: string;
  readonly after?: string;
  /** Stands for the table where there are no rows; default: "No resources found" on standard error. */
  readonly empty?: string;
  /** The namespace that the list is of, if it is of one. */
  readonly namespace?: string | undefined;
}

/** An explanation or a report. */
export interface TextResult {
  readonly document: object;
  readonly names: readonly string[];
  /** Whole lines. */
  text(paint: Paint): string;
}

export function isTable<Row>(result: Result<Row>): result is TableResult<Row> {
  return 'rows' in result;
}

/** The result as whole lines. `output`: `wide` shows all columns. */
export function renderForPeople<Row>(result: Result<Row>, output: string, paint: Paint): string {
  if (!isTable(result)) return result.text(paint);
  const { before = '', after = '', empty = '', rows } = result;
  return `${before}${rows.length === 0 ? empty : renderTable(result, output === 'wide', paint)}${after}`;
}

function renderTable<Row>({ rows, columns }: TableResult<Row>, wide: boolean, paint: Paint): string {
  const visible = columns.filter((column) => wide || column.wide !== true);
  const cells = rows.map((row) =>
    visible.map((column) => ({ text: column.cell(row), tone: column.tone?.(row) })),
  );
  return formatTable([visible.map(({ head }) => head), ...cells], { paint });
}

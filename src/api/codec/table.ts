import type { ApiObject, Column, Kind, ListMeta } from '../kinds/index.ts';
import { apiVersionOf } from '../kinds/index.ts';
import { toPartial } from './partial.ts';

export type TableInclude = 'None' | 'Metadata' | 'Object';

export interface TableRow {
  cells: (string | number | boolean | null)[];
  object?: object;
}

/** Server-side tabular view (specification, sections 2.4 and 4.5). */
export interface Table {
  kind: 'Table';
  apiVersion: string;
  metadata: ListMeta;
  columnDefinitions?: readonly Omit<Column<never>, 'value'>[];
  rows: TableRow[];
}

export interface TableOptions {
  groupSuffix: string;
  /** How much of its object each row has. */
  include: TableInclude;
  /** Wall-clock time in milliseconds, for ages. */
  now: number;
  /** The version in which the client asked for the table. */
  version?: 'v1' | 'v1beta1';
  /** False for all but the first event of a watch. */
  headers: boolean;
}

const nameColumn: Column<ApiObject> = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name must be unique within a namespace.',
  priority: 0,
  value: (object) => object.metadata?.name ?? '',
};
const createdColumn: Column<ApiObject> = {
  name: 'Created At',
  type: 'date',
  description: 'When the object was created.',
  priority: 0,
  value: (object) => object.metadata?.creationTimestamp ?? null,
};

/** Builds single rows, and tables from rows. A kind without columns gets `Name` and `Created At`. */
export interface TableBuilder<T> {
  row(object: T): TableRow;
  table(rows: TableRow[], metadata: ListMeta): Table;
}

export function tableBuilder<T extends ApiObject>(
  { columns: own }: Pick<Kind<T>, 'columns'>,
  options: TableOptions,
): TableBuilder<T> {
  const columns: readonly Column<T>[] = [
    ...(own.some(({ name }) => name === nameColumn.name) ? [] : [nameColumn]),
    ...(own.length > 0 ? own : [createdColumn]),
  ];
  const definitions = columns.map(({ value: _value, ...definition }) => ({ format: '', ...definition }));
  return {
    row: (object) => ({
      cells: columns.map((column) => column.value(object, options.now)),
      ...selectObject(object, options),
    }),
    table: (rows, metadata) => ({
      kind: 'Table',
      apiVersion: apiVersionOf({ group: 'meta', version: options.version ?? 'v1' }, options.groupSuffix),
      metadata,
      ...(options.headers ? { columnDefinitions: definitions } : {}),
      rows,
    }),
  };
}

/** Builds the table of these objects. */
export function toTable<T extends ApiObject>(
  kind: Pick<Kind<T>, 'columns'>,
  objects: readonly T[],
  metadata: ListMeta,
  options: TableOptions,
): Table {
  const { row, table } = tableBuilder(kind, options);
  return table(objects.map(row), metadata);
}

function selectObject(object: ApiObject, { include, groupSuffix }: TableOptions): { object?: object } {
  if (include === 'None') return {};
  return { object: include === 'Object' ? object : toPartial(object, groupSuffix) };
}

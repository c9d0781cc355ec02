import type { ApiObject, Column, Kind, ListMeta } from '../kinds/index.ts';
import { apiVersionOf } from '../kinds/index.ts';

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
  /** What each row carries of its object. */
  include: TableInclude;
  /** Wall clock, milliseconds, for ages. */
  now: number;
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

/** Makes the table of some objects; a kind without columns gets `Name` and `Created At`. */
export function toTable<T extends ApiObject>(
  kind: Kind<T>,
  objects: readonly T[],
  metadata: ListMeta,
  options: TableOptions,
): Table {
  const columns: readonly Column<T>[] = [
    nameColumn,
    ...(kind.columns.length > 0 ? kind.columns : [createdColumn]),
  ];
  const definitions = columns.map(({ value: _value, ...definition }) => ({ format: '', ...definition }));
  return {
    kind: 'Table',
    apiVersion: apiVersionOf({ group: 'meta', version: 'v1' }, options.groupSuffix),
    metadata,
    ...(options.headers ? { columnDefinitions: definitions } : {}),
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.value(object, options.now)),
      ...included(object, options),
    })),
  };
}

function included(object: ApiObject, options: TableOptions): { object?: object } {
  if (options.include === 'None') return {};
  if (options.include === 'Object') return { object };
  const apiVersion = apiVersionOf({ group: 'meta', version: 'v1' }, options.groupSuffix);
  return { object: { kind: 'PartialObjectMetadata', apiVersion, metadata: object.metadata ?? {} } };
}

import { isCheckpointId, isRecord } from '../../api/index.ts';
import { textCell, toRecords } from '../agent-client/response.ts';
import type { Tone } from '../terminal/colour.ts';
import type { TableResult } from '../terminal/result.ts';
import { formatTable } from '../terminal/table.ts';
import { formatBytes, formatRoughDuration } from '../terminal/text.ts';

type Item = Record<string, unknown>;

/** A row for each checkpoint. */
export function tableOfCheckpoints(list: Item, nowMs: number): TableResult<Item> {
  const field = (name: string) => (item: Item) => textCell(recordOf(item)[name]);
  return {
    document: list,
    rows: toRecords(list['items']),
    columns: [
      { head: 'NAMESPACE', cell: field('namespace') },
      { head: 'POD', cell: field('pod') },
      { head: 'CONTAINER', cell: field('container') },
      { head: 'SIZE', cell: ({ bytes }) => (typeof bytes === 'number' ? formatBytes(bytes) : '-') },
      { head: 'AGE', cell: (item) => ageOf(item, nowMs) },
      {
        head: 'STATE',
        cell: ({ state }) => textCell(state),
        tone: ({ state }) => stateTones[textCell(state)],
      },
      { head: 'PINNED', cell: ({ pinned }) => (pinned === true ? 'yes' : '') },
      { head: 'SEALED', cell: (item) => (isRecord(recordOf(item)['sealed']) ? 'yes' : 'no'), wide: true },
      { head: 'STOOD STILL', cell: (item) => formatPause(recordOf(item)['pausedMs']), wide: true },
      { head: 'NODE', cell: field('node'), wide: true },
      { head: 'IMAGE', cell: field('image'), wide: true },
      { head: 'ID', cell: ({ id }) => textCell(id) },
    ],
    // scripts and the completion of shells take the names as they are, and the node may send anything
    name: ({ id }) => (typeof id === 'string' && isCheckpointId(id) ? id : ''),
  };
}

const stateTones: Readonly<Record<string, Tone>> = {
  Damaged: 'bad',
  Unknown: 'doubtful',
  Matches: 'good',
};

const formatPause = (value: unknown): string => (typeof value === 'number' ? `${Math.round(value)} ms` : '-');

/** A line for each field of one checkpoint. */
export function formatCheckpoint(item: Item): string {
  const { verified, ...record } = recordOf(item);
  const verification = isRecord(verified)
    ? { verified: Object.values(verified).map(formatValue).join(', ') }
    : {};
  const fields = Object.entries({ ...item, ...record, ...verification });
  return formatTable(
    fields
      .filter(([name]) => !hiddenFields.includes(name))
      .map(([name, value]) => [name, formatValue(value)]),
  );
}

const hiddenFields: readonly string[] = [
  'record',
  'apiVersion',
  'kind',
  'formatVersion',
  'archive',
  'sizeBytes',
];

function recordOf({ record }: Item): Item {
  return isRecord(record) ? record : {};
}

function formatValue(value: unknown): string {
  return isRecord(value) ? Object.values(value).map(formatValue).join(' ') : String(value);
}

function ageOf(item: Item, nowMs: number): string {
  return formatRoughDuration(nowMs - Date.parse(String(recordOf(item)['startedAt'] ?? item['modifiedAt'])));
}

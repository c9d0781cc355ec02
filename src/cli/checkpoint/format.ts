import { isRecord } from '../../api/index.ts';
import { textCell } from '../agent-client/response.ts';
import { formatTable } from '../terminal/table.ts';
import { formatBytes, formatRoughDuration } from '../terminal/text.ts';

type Item = Record<string, unknown>;

/** A row for each checkpoint. */
export function formatCheckpoints(items: readonly Item[], nowMs: number): string {
  const rows = items.map((item) => {
    const record = recordOf(item);
    const names = ['namespace', 'pod', 'container'].map((name) => textCell(record[name]));
    const pinned = item['pinned'] === true ? 'yes' : '';
    const size = typeof item['bytes'] === 'number' ? formatBytes(item['bytes']) : '-';
    return [...names, size, ageOf(item, nowMs), textCell(item['state']), pinned, textCell(item['id'])];
  });
  return formatTable([['NAMESPACE', 'POD', 'CONTAINER', 'SIZE', 'AGE', 'STATE', 'PINNED', 'ID'], ...rows]);
}

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

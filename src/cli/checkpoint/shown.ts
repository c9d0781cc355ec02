import { isRecord } from '../../api/index.ts';
import { harmless } from '../access/report.ts';
import { shownBytes } from '../storage/report.ts';
import { table } from './output.ts';

/** Checkpoints for people. What an agent sends is read with care: it may be of another version. */
export function checkpointTable(items: readonly Record<string, unknown>[], nowMs: number): string {
  const rows = items.map((item) => {
    const record = recordOf(item);
    const names = ['namespace', 'pod', 'container'].map((name) => text(record[name]));
    const pinned = item['pinned'] === true ? 'yes' : '';
    return [...names, size(item), age(item, nowMs), text(item['state']), pinned, text(item['id'])];
  });
  return table([['NAMESPACE', 'POD', 'CONTAINER', 'SIZE', 'AGE', 'STATE', 'PINNED', 'ID'], ...rows]);
}

/** One of them, whole: a line for each thing that is known. */
export function checkpointText(item: Record<string, unknown>): string {
  const { verified, ...record } = recordOf(item);
  const lines = Object.entries({ ...item, ...record, ...flat('verified', verified) });
  const shown = lines.filter(([name]) => !hidden.includes(name)).map(([name, value]) => [name, plain(value)]);
  return table(shown);
}

const hidden: readonly string[] = ['record', 'apiVersion', 'kind', 'formatVersion', 'archive', 'sizeBytes'];

function flat(name: string, value: unknown): Record<string, unknown> {
  return isRecord(value) ? { [name]: Object.values(value).map(plain).join(', ') } : {};
}

const recordOf = (item: Record<string, unknown>): Record<string, unknown> =>
  isRecord(item['record']) ? item['record'] : {};

const text = (value: unknown): string => (typeof value === 'string' && value !== '' ? harmless(value) : '-');

function plain(value: unknown): string {
  if (isRecord(value)) return Object.values(value).map(plain).join(' ');
  return harmless(String(value));
}

function size({ bytes }: Record<string, unknown>): string {
  return typeof bytes === 'number' ? shownBytes(bytes) : '-';
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

function age(item: Record<string, unknown>, nowMs: number): string {
  const ms = nowMs - Date.parse(String(recordOf(item)['startedAt'] ?? item['modifiedAt']));
  if (!Number.isFinite(ms)) return '-';
  const [unit, length] = units.find(([, each]) => ms >= 2 * each) ?? ['s', 1000];
  return `${Math.max(0, Math.floor(ms / length))}${unit}`;
}

import { isRecord } from '../../api/index.ts';
import type {
  CheckReport,
  DefragReport,
  HistoryFacts,
  MaintainedStore,
  StoreStats,
} from '../storage/index.ts';
import { isOrigin } from './origin.ts';

export type { CheckReport, DefragReport, StoreStats } from '../storage/index.ts';

/** The further facts of a running server. */
export interface LiveStats extends StoreStats {
  readonly history: StoreStats['history'] & HistoryFacts;
  /** Why writes are refused; null while they are not. */
  readonly noRoom: string | null;
}

export async function liveStats(store: MaintainedStore): Promise<LiveStats> {
  const stats = await store.run('stats');
  return { ...stats, history: { ...stats.history, ...store.history }, noRoom: store.noRoom ?? null };
}

/** Whether a server's answer is its stats. */
export function isStats(value: unknown): value is StoreStats & Partial<Pick<LiveStats, 'noRoom'>> {
  if (!isRecord(value) || !isRecord(value['sizes']) || !isRecord(value['history'])) return false;
  const { sizes, history, prefixes } = value;
  const numbers = [
    ...['revision', 'compacted', 'objects', 'objectBytes'].map((name) => value[name]),
    ...['database', 'free', 'log', 'reserve'].map((name) => sizes[name]),
    history['bytes'],
  ];
  return (
    typeof value['file'] === 'string' &&
    (value['origin'] === null || isOrigin(value['origin'])) &&
    numbers.every(isNumber) &&
    Array.isArray(prefixes) &&
    prefixes.every(isCount)
  );
}

export function isHistoryFacts(history: object): history is HistoryFacts {
  return ['windowMs', 'keptMs', 'cuts'].every((name) => isNumber(new Map(Object.entries(history)).get(name)));
}

export function isCheckReport(value: unknown): value is CheckReport {
  if (!isRecord(value) || !Array.isArray(value['problems'])) return false;
  const numbers = [value['revision'], value['objects'], value['rows']];
  return typeof value['file'] === 'string' && numbers.every(isNumber) && value['problems'].every(isText);
}

export function isDefragReport(value: unknown): value is DefragReport {
  if (!isRecord(value)) return false;
  return typeof value['file'] === 'string' && isNumber(value['beforeBytes']) && isNumber(value['afterBytes']);
}

function isCount(value: unknown): boolean {
  return isRecord(value) && isText(value['prefix']) && isNumber(value['objects']) && isNumber(value['bytes']);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

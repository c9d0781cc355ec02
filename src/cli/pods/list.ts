import { isRecord } from '../../api/index.ts';
import { textCell, toRecords } from '../agent-client/response.ts';
import type { Tone } from '../terminal/colour.ts';
import type { TableResult } from '../terminal/result.ts';
import { formatRoughDuration, sanitize } from '../terminal/text.ts';

type Item = Record<string, unknown>;

/** A row for each pod. */
export function listPods(list: Item, nowMs: number): TableResult<Item> {
  const sinceOf = (item: Item) => formatAge(waitOf(item)['since'], nowMs);
  return {
    document: list,
    rows: toRecords(list['items']),
    columns: [
      { head: 'POD', cell: nameOf },
      {
        head: 'PHASE',
        cell: ({ phase }) => textCell(phase),
        tone: ({ phase }) => phaseTones[textCell(phase)],
      },
      { head: 'STAGE', cell: ({ stage }) => textCell(stage) },
      { head: 'RUNNING', cell: countRunning },
      { head: 'RESTARTS', cell: ({ containers }) => String(sumRestarts(containers)) },
      {
        head: 'REASON',
        cell: (item) => textCell(waitOf(item)['reason'] ?? endOf(item)['reason']),
        tone: toneOfWait,
      },
      { head: 'SINCE', cell: sinceOf },
      { head: 'NEXT', cell: (item) => formatNext(waitOf(item)['next'], nowMs) },
      { head: 'ORIGIN', cell: ({ origin }) => textCell(origin), wide: true },
      { head: 'UID', cell: ({ uid }) => textCell(uid), wide: true },
      { head: 'WHY', cell: (item) => shorten(whyOf(item)) },
    ],
    name: nameOf,
    after: describeRefused(list)
      .map((line) => `${line}\n`)
      .join(''),
  };
}

/** Manifests that are not used as they are: nothing else tells of a pod that is missing because of that. */
export function describeRefused({ refusedManifests }: Item): string[] {
  return toRecords(refusedManifests).map(({ message }) => sanitize(`not used: ${textCell(message)}`));
}

const phaseTones: Readonly<Record<string, Tone>> = { Running: 'good', Pending: 'doubtful', Failed: 'bad' };

/** The whole text is in `nodeward pods explain` and in `-o json`. */
const maxWhyLength = 100;

const shorten = (text: string) => (text.length > maxWhyLength ? `${text.slice(0, maxWhyLength - 1)}…` : text);

const endOf = ({ ends }: Item): Item => (isRecord(ends) ? ends : {});

const whyOf = (item: Item) => textCell(waitOf(item)['message'] ?? endOf(item)['message']);

const waitOf = ({ waitsFor }: Item): Item => (isRecord(waitsFor) ? waitsFor : {});

const toneOfWait = (item: Item): Tone | undefined =>
  waitOf(item)['reason'] === undefined && endOf(item)['reason'] === undefined ? undefined : 'doubtful';

function nameOf({ namespace, name }: Item): string {
  return `${textCell(namespace)}/${textCell(name)}`;
}

/** Of those that are to run on: init containers and those for debugging come and go. */
function countRunning({ containers }: Item): string {
  const all = toRecords(containers).filter(({ type }) => type === 'regular' || type === 'sidecar');
  return `${all.filter(({ state }) => state === 'running').length}/${all.length}`;
}

function sumRestarts(containers: unknown): number {
  return toRecords(containers).reduce(
    (sum, { restarts }) => sum + (typeof restarts === 'number' ? restarts : 0),
    0,
  );
}

/** How long ago; `-` for what is not a time. */
export function formatAge(time: unknown, nowMs: number): string {
  return typeof time === 'string' ? formatRoughDuration(nowMs - Date.parse(time)) : '-';
}

/** `in 20s`, or `now` for a time that has come; `-` where nothing comes by itself. */
export function formatNext(time: unknown, nowMs: number): string {
  if (typeof time !== 'string') return '-';
  const ms = Date.parse(time) - nowMs;
  return ms <= 0 ? 'now' : `in ${formatRoughDuration(ms)}`;
}

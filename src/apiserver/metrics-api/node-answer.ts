import { formatTime } from '../../api/index.ts';
import { isRecord } from '../../base/index.ts';

/*
 * What an agent answers to `/stats/summary?only_cpu_and_memory=true`. The holder of a node's credentials decides what that is, so
 * nothing of it is believed but figures, and pods are looked up in it by what the API says runs there.
 */

export interface Figures {
  /** RFC 3339. */
  readonly time: string;
  readonly nanoCores: number;
  /** The span of the rate of the CPU. */
  readonly spanMs: number;
  readonly workingSetBytes: number;
}

export interface NodeAnswer {
  /** Undefined: not known. */
  readonly node: Figures | undefined;
  /** By uid, then by the name of the container; without containers of which not everything is known. */
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, Figures>>;
}

/** Throws a SyntaxError for what is not JSON; whatever is not as expected in it is missing. */
export function parseNodeAnswer(text: string): NodeAnswer {
  const answer = recordOf(JSON.parse(text));
  const pods = listOf(answer['pods']).map((pod): [string, ReadonlyMap<string, Figures>] => [
    textOf(recordOf(pod['podRef'])['uid']),
    new Map(
      listOf(pod['containers']).flatMap((container): [string, Figures][] => {
        const figures = figuresOf(container);
        return figures === undefined ? [] : [[textOf(container['name']), figures]];
      }),
    ),
  ]);
  return { node: figuresOf(recordOf(answer['node'])), pods: new Map(pods) };
}

/** Of an agent that does not say the span of its rate: as often as the reference measures. */
const usualSpanMs = 10_000;
const maxSpanMs = 3_600_000;
const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
/** The end of the last year of which RFC 3339 can write the time. */
const maxTimeMs = Date.UTC(9999, 11, 31, 23, 59, 59);

function figuresOf(measured: Readonly<Record<string, unknown>>): Figures | undefined {
  const [cpu, memory] = [recordOf(measured['cpu']), recordOf(measured['memory'])];
  const [nanoCores, workingSetBytes] = [countOf(cpu['usageNanoCores']), countOf(memory['workingSetBytes'])];
  const time = timeOf(cpu['time']);
  if (nanoCores === undefined || workingSetBytes === undefined || time === undefined) return undefined;
  const spanMs = countOf(cpu['usageSpanMilliSeconds']) ?? usualSpanMs;
  return { time, nanoCores, workingSetBytes, spanMs: Math.min(spanMs, maxSpanMs) };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

function listOf(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Undefined for what is no time: clients that read one, such as kubectl, refuse all figures beside it. */
function timeOf(value: unknown): string | undefined {
  const text = textOf(value);
  const ms = timeForm.test(text) ? Date.parse(text) : Number.NaN;
  return ms <= maxTimeMs ? formatTime(ms) : undefined;
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

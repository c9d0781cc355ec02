import { isRecord } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { tryParseRecord } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { isNoAccess } from '../agent-client/no-access.ts';
import type { AgentClient } from '../agent-client/response.ts';
import { requestAgent, responseError, textCell, toRecords } from '../agent-client/response.ts';

export type Item = Record<string, unknown>;

/** What an agent answers of its node at one moment. What it does not serve, or this user may not read, is undefined. */
export interface Answers {
  /** `/stats/summary` */
  readonly summary: Item;
  /** `/stats/limits` */
  readonly limits: Item | undefined;
  /** `/pods/explain` */
  readonly pods: Item | undefined;
}

/** The agent measures disks no more often, and what goes with that costs it ten times what CPU and memory alone do. */
const wholeMs = 10_000;

/**
 * What a node uses, asked for as often as one likes: all of it only every ten seconds, CPU and memory each time. One for each
 * connection to an agent.
 */
export class SummaryReader {
  readonly #clock: Clock;
  #whole: { readonly summary: Item; readonly atMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async read(client: AgentClient, signal: AbortSignal): Promise<Item> {
    const path = '/stats/summary';
    if (this.#whole !== undefined && this.#clock.monotonicMs() - this.#whole.atMs < wholeMs) {
      const lean = `${path}?only_cpu_and_memory=true`;
      return mergeSummaries(
        this.#whole.summary,
        await requestAgent(client, { method: 'GET', path: lean, signal }),
      );
    }
    const summary = await requestAgent(client, { method: 'GET', path, signal });
    // since it was answered: with a runtime that hangs that takes nearly as long, and would be asked each time
    this.#whole = { summary, atMs: this.#clock.monotonicMs() };
    return summary;
  }
}

/** The newer one, with what only the older one has; what there is no more is left out. */
export function mergeSummaries(whole: Item, lean: Item): Item {
  return {
    node: { ...recordOf(whole['node']), ...recordOf(lean['node']) },
    pods: mergeEach(whole['pods'], lean['pods'], (pod) => textCell(recordOf(pod['podRef'])['uid'])).map(
      ({ before, now }) => ({
        ...before,
        ...now,
        containers: mergeEach(before['containers'], now['containers'], nameOf).map((each) => ({
          ...each.before,
          ...each.now,
        })),
      }),
    ),
  };
}

const nameOf = ({ name }: Item): string => textCell(name);

function mergeEach(whole: unknown, lean: unknown, keyOf: (item: Item) => string) {
  const known = new Map(toRecords(whole).map((item) => [keyOf(item), item]));
  return toRecords(lean).map((now) => ({ now, before: known.get(keyOf(now)) ?? {} }));
}

/**
 * Asks for all of it at once. `/pods` is not among it: for that the agent asks the runtime of each container, and what it has of the
 * pods itself costs nothing. Rejects when there is no summary.
 */
export async function askAgent(
  client: ApiClient,
  summaries: SummaryReader,
  signal: AbortSignal,
): Promise<Answers> {
  const [summary, limits, pods] = await Promise.all([
    summaries.read(client, signal),
    askIfServed(client, '/stats/limits', signal),
    askIfServed(client, '/pods/explain', signal),
  ]);
  return { summary, limits, pods };
}

async function askIfServed(client: ApiClient, path: string, signal: AbortSignal): Promise<Item | undefined> {
  try {
    const answer = await client.request({ method: 'GET', path, signal });
    if (answer.code === 404 || answer.code === 403) return undefined;
    if (answer.code !== 200) throw responseError(client, answer);
    return tryParseRecord(answer.body);
  } catch (error) {
    if (isNoAccess(error)) return undefined;
    throw error;
  }
}

// Nothing about the fields of an answer is taken for granted.

export const recordOf = (value: unknown): Item => (isRecord(value) ? value : {});

/** Undefined for what is not a number that can be shown. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** Undefined for what is not a text, or empty. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Undefined where none is known. */
export function sumKnown(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((each) => each !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, each) => sum + each, 0);
}

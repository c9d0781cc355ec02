import type { Replay } from '../../feed.ts';
import { RemainingMemo } from '../../remaining-memo.ts';
import type { Change, Page, Revision, Stored } from '../../types.ts';
import { StorageError } from '../../types.ts';
import type {
  ListCursor,
  PackedReplay,
  PackedStates,
  ReadAnswer,
  ReadRequest,
  ToWriter,
} from '../messages.ts';
import { stateAt } from '../packing.ts';

/** Puts lists and replays together from the steps that the writer thread makes. */
export class HistoryReader {
  readonly #send: (message: ToWriter) => void;
  readonly #waiting = new Map<number, PromiseWithResolvers<ReadAnswer>>();
  readonly #memo = new RemainingMemo();
  #lastId = 0;

  constructor(send: (message: ToWriter) => void) {
    this.#send = send;
  }

  async listAt(prefix: string, revision: Revision, after: string, limit: number): Promise<Page> {
    const items: Stored[] = [];
    let from: ListCursor | null = { after };
    while (from !== null && (limit === 0 || items.length < limit)) {
      const left = limit === 0 ? 0 : limit - items.length;
      const answer: ReadAnswer = await this.#read({ kind: 'list', prefix, revision, from, limit: left });
      if (typeof answer === 'string') return answer;
      if (answer.kind !== 'list') throw unexpected(answer.kind);
      addStates(items, answer.keys, answer.states);
      from = answer.next;
    }
    const remaining = from === null ? 0 : await this.#remaining(prefix, revision, after, items, from);
    return typeof remaining === 'string' ? remaining : { revision, items, remaining };
  }

  async replay(prefix: string, after: Revision, upTo: Revision): Promise<Replay> {
    const answer = await this.#read({ kind: 'replay', prefix, after, upTo });
    if (answer === 'compacted') return answer;
    if (typeof answer === 'string' || answer.kind !== 'replay') throw unexpected(String(answer));
    return { changes: changesOf(answer), through: answer.through };
  }

  settle(id: number, answer: ReadAnswer): void {
    this.#waiting.get(id)?.resolve(answer);
    this.#waiting.delete(id);
  }

  fail(id: number, error: Error): void {
    this.#waiting.get(id)?.reject(error);
    this.#waiting.delete(id);
  }

  failAll(error: Error): void {
    for (const id of [...this.#waiting.keys()]) this.fail(id, error);
  }

  async #remaining(
    prefix: string,
    revision: Revision,
    after: string,
    items: readonly Stored[],
    from: ListCursor,
  ): Promise<number | 'compacted' | 'future'> {
    const last = items.at(-1)?.key ?? after;
    const known = this.#memo.get(prefix, revision, after);
    const count = known === undefined ? await this.#count(prefix, revision, from) : known - items.length;
    if (typeof count === 'number') this.#memo.set(prefix, revision, last, count);
    return count;
  }

  async #count(
    prefix: string,
    revision: Revision,
    first: ListCursor,
  ): Promise<number | 'compacted' | 'future'> {
    let count = 0;
    let from: ListCursor | null = first;
    while (from !== null) {
      const answer: ReadAnswer = await this.#read({ kind: 'count', prefix, revision, from });
      if (typeof answer === 'string') return answer;
      if (answer.kind !== 'count') throw unexpected(answer.kind);
      count += answer.count;
      from = answer.next;
    }
    return count;
  }

  #read(request: ReadRequest): Promise<ReadAnswer> {
    const id = ++this.#lastId;
    const waiting = Promise.withResolvers<ReadAnswer>();
    this.#waiting.set(id, waiting);
    this.#send({ type: 'read', id, request });
    return waiting.promise;
  }
}

function changesOf(replay: PackedReplay): readonly Change[] {
  return replay.keys.map((key, index) => ({
    key,
    revision: replay.revisions[index] ?? 0,
    previous: stateAt(key, replay.previous, index),
    next: stateAt(key, replay.next, index),
  }));
}

function addStates(items: Stored[], keys: readonly string[], states: PackedStates): void {
  keys.forEach((key, index) => {
    const state = stateAt(key, states, index);
    if (state !== null) items.push(state);
  });
}

function unexpected(what: string): StorageError {
  return new StorageError('unavailable', `the writer thread answered a read with "${what}"`);
}

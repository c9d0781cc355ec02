import { setImmediate as turn } from 'node:timers/promises';
import type { ChangeBatch, Revision, Store } from '../../../src/apiserver/storage/index.ts';
import { FaultyStore } from './faulty-store.ts';

/** A store that tells its changes some turns of the event loop after it has answered their writers. */
export class LateStore extends FaultyStore implements Store {
  override async *changes(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
  ): AsyncGenerator<ChangeBatch | 'compacted'> {
    for await (const batch of super.changes(prefix, after, signal)) {
      for (let turns = 0; turns < 3; turns++) await turn();
      yield batch;
    }
  }
}

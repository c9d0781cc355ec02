import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ChangeFeed } from '../../../../../src/apiserver/storage/feed.ts';
import { HistoryReader } from '../../../../../src/apiserver/storage/sqlite/client/reader.ts';
import type { FromWriter } from '../../../../../src/apiserver/storage/sqlite/messages.ts';
import { Connection } from '../../../../../src/apiserver/storage/sqlite/writer/connection.ts';
import { commitGroup } from '../../../../../src/apiserver/storage/sqlite/writer/group.ts';
import { WriterLoop } from '../../../../../src/apiserver/storage/sqlite/writer/writer-loop.ts';

describe('a writer that read its store again after an I/O error', () => {
  test('tells followers all that reached the disk, however much it is', async () => {
    await using writer = await Writer.make();
    const before = writer.write(['a']);
    const told = writer.follow(before);
    const last = writer.write(['b', 'c', 'd', 'e', 'f']);
    writer.loseTrack(before);
    assert.deepEqual(await told(last), [before + 1, before + 2, before + 3, before + 4, last]);
  });

  test('tells nothing when nothing was missed', async () => {
    await using writer = await Writer.make();
    const before = writer.write(['a']);
    const told = writer.follow(0);
    writer.loseTrack(before);
    assert.deepEqual(await told(before), [before]);
  });
});

/** The writer and its reader in one thread. */
class Writer implements AsyncDisposable {
  readonly #folder: string;
  readonly #connection: Connection;
  readonly #loop: WriterLoop;
  readonly #reader: HistoryReader;
  readonly #feed: ChangeFeed;
  readonly #stop = new AbortController();

  private constructor(folder: string) {
    this.#folder = folder;
    const file = join(folder, 'store.sqlite');
    this.#connection = new Connection({ file, groupSuffix: 'k8s.io', limitBytes: undefined });
    this.#loop = new WriterLoop(this.#connection, (message) => this.#receive(message));
    this.#reader = new HistoryReader((message) => {
      this.#loop.take(message);
      while (this.#loop.work());
    });
    this.#feed = new ChangeFeed(0, (prefix, after, upTo) => this.#reader.replay(prefix, after, upTo));
  }

  static async make(): Promise<Writer> {
    return new Writer(await mkdtemp(join(tmpdir(), 'nodeward-recovery-')));
  }

  /** Creates keys with large values, which nobody is told of. Answers the revision of the last one. */
  write(keys: readonly string[]): number {
    const { database, state } = this.#connection;
    assert.ok(database);
    const writes = keys.map((key) => {
      return { key, expect: 0, value: new Uint8Array(1_500_000), wantPrevious: false };
    });
    const { result } = commitGroup(database, state, writes, 0);
    return result.revisions.at(-1) ?? 0;
  }

  /** As if the sync of what followed `durable` had failed, although it is on the disk. */
  loseTrack(durable: number): void {
    this.#connection.state.durable = durable;
    this.#connection.abandon(new Error('of the test'));
    while (this.#loop.work());
  }

  /** Follows from `after`; answers how to get what was told when a revision is reached. */
  follow(after: number): (until: number) => Promise<number[]> {
    const changes = this.#feed.changes('', after, this.#stop.signal);
    this.#feed.jumpTo(this.#connection.state.durable);
    return async (until) => {
      const told: number[] = [];
      for await (const batch of changes) {
        assert.notEqual(batch, 'compacted');
        if (typeof batch !== 'string' && !('progress' in batch)) told.push(...batch.map((c) => c.revision));
        const at = typeof batch !== 'string' && 'progress' in batch ? batch.progress : (told.at(-1) ?? 0);
        if (at >= until) break;
      }
      return told;
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#connection[Symbol.dispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #receive(message: FromWriter): void {
    if (message.type === 'recovered') this.#feed.jumpTo(message.revision);
    if (message.type === 'readDone') this.#reader.settle(message.id, message.answer);
  }
}

import type { MaintainedStore, Stored } from '../storage/index.ts';
import { StorageError } from '../storage/index.ts';
import { SnapshotWriter } from './snapshot-format.ts';

/** Objects read at once: at most 48 MiB. */
const pageLimit = 32;

/**
 * The bytes of a snapshot of the newest revision, read page by page as they are consumed, while the store keeps working.
 * History is held meanwhile, for ten minutes at most; a caller that takes longer gets a StorageError.
 */
export async function* takeSnapshot(store: MaintainedStore): AsyncGenerator<Buffer, void, undefined> {
  using hold = await store.hold();
  const { revision } = hold;
  const writer = new SnapshotWriter();
  yield writer.header({ groupSuffix: store.groupSuffix, revision });
  for (let after: string | undefined = ''; after !== undefined; ) {
    const items: readonly Stored[] = await readPage(store, revision, after);
    yield writer.objects(items);
    after = items.length < pageLimit ? undefined : items.at(-1)?.key;
  }
  yield writer.trailer();
}

async function readPage(store: MaintainedStore, revision: number, after: string): Promise<readonly Stored[]> {
  const page = await store.listAt('', revision, after, pageLimit);
  if (typeof page !== 'string') return page.items;
  throw new StorageError('unavailable', 'the snapshot took too long: its revision is forgotten; try again');
}

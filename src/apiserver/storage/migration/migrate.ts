import type { Migrated, MigrationSource, MigrationTarget, Progress } from './types.ts';

/**
 * Moves all objects of one store to another:
 *
 *     begin     the target is marked: no server starts on it
 *     prepare   most is copied, while the source is read and written
 *     hold      the source takes no more writes; reads go on
 *     finish    what changed since is copied; all is read back and compared; the source is sealed, the target opened
 *
 * When it fails, or is killed, before the source is sealed, writers go on there within half a minute; done again, it goes
 * on from what is there.
 */
export async function migrate(
  source: MigrationSource,
  target: MigrationTarget,
  progress: Progress,
): Promise<Migrated> {
  await target.begin(source);
  if (target.prepare !== undefined) {
    progress.step('copying');
    await target.prepare(await source.read());
  }
  progress.step('waiting for writers to be held');
  await using hold = await source.hold(target.name);
  return await target.finish({ source, hold });
}

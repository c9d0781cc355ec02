import type { Migrated, MigrationSource, MigrationTarget, Progress } from './types.ts';

/**
 * Moves all objects of one store to another:
 *
 *     begin     the target is marked: no server starts on it
 *     prepare   most objects are copied, while the source is read and written
 *     hold      the source takes no more writes; reads continue
 *     finish    later changes are copied; all is read back and compared; the source is sealed, the target opened
 *
 * When it fails, or is killed, before the source is sealed, writers continue there within half a minute; the next
 * migration continues from what has been copied.
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

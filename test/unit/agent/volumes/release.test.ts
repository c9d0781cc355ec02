import assert from 'node:assert/strict';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { volumesWith } from './support.ts';

const podId = { uid: 'u1', namespace: 'default', name: 'web' };

describe('a release that another one left half done', () => {
  test('goes on where folders have been moved up to be emptied', async () => {
    await using made = await volumesWith();
    const pod = join(made.rootDir, 'pods', 'u1');
    for (const name of ['a', 'b']) {
      await mkdir(join(pod, 'plugins/kubernetes.io~empty-dir', name), { recursive: true });
      await mkdir(join(pod, 'volumes/kubernetes.io~empty-dir', name), { recursive: true });
      await writeFile(join(pod, 'plugins/kubernetes.io~empty-dir', name, 'ready'), '');
    }
    await mkdir(join(pod, 'volume-subpaths/a/main/0'), { recursive: true });
    // as `emptyFolder` does it
    await rename(join(pod, 'plugins/kubernetes.io~empty-dir/a'), join(pod, 'plugins/.nodeward-1'));
    await rename(join(pod, 'volume-subpaths/a/main'), join(pod, 'volume-subpaths/.nodeward-2'));
    assert.deepEqual(await made.volumes.listPods(), ['u1']);
    await made.volumes.release(podId);
    assert.deepEqual(await readdir(pod), []);
  });
});

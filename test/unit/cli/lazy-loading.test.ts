import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../../..');
const importing = /^(?:import|export)\s(?!type\b)[^;]*?from '([^']+)';|^import '([^']+)';/gms;

/** The files that are loaded with `entry`, and the packages that they name; not what is imported when it is needed. */
async function loadedWith(entry: string): Promise<{ files: Set<string>; packages: Set<string> }> {
  const [files, packages] = [new Set<string>(), new Set<string>()];
  const queue = [join(root, entry)];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (files.has(relative(root, path))) continue;
    files.add(relative(root, path));
    for (const [, name, bare] of (await readFile(path, 'utf8')).matchAll(importing)) {
      const target = name ?? bare ?? '';
      if (target.startsWith('.')) queue.push(join(dirname(path), target));
      else if (!target.startsWith('node:')) packages.add(target);
    }
  }
  return { files, packages };
}

test('the command line loads agent, control plane, gRPC and HTTP server only for the commands that need them', async () => {
  const { files, packages } = await loadedWith('src/cli/program.ts');
  assert.ok(files.has('src/cli/checkpoint/archive/diff.ts'), 'the walk finds what is there');
  const parts = [...files].filter((path) => /^src\/(agent|apiserver)\//.test(path));
  assert.deepEqual(parts, []);
  assert.deepEqual([...packages].sort(), ['@bufbuild/protobuf/wire', 'commander', 'pino', 'prom-client']);
});

test('an agent and a control plane load no other command', async () => {
  const { files } = await loadedWith('src/cli/index.ts');
  assert.ok(files.has('src/cli/agent.ts') && files.has('src/cli/apiserver.ts'));
  const others = [...files].filter((path) =>
    /^src\/cli\/.*(?<!flags)\/(command|list|create)\.ts$/.test(path),
  );
  assert.deepEqual(others, []);
  assert.ok(!files.has('src/cli/program.ts') && !files.has('src/cli/doctor.ts'));
});

/** What an idle agent and its control plane have loaded: the text of it stays in memory for as long as they run. */
import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { temporaryFolder } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { repository } from './lab/index.ts';
import { startAgent } from './nodeward/index.ts';
import type { Loaded } from './weight/record-loaded.ts';

/** Parts of the bundle by the names of their chunks, without what all processes have. */
const roles = [
  {
    role: 'agent',
    parts: ['agent', 'chokidar', 'proper-lockfile', 'read', 'undici'],
    // a byte of text takes two and a half of memory: itself, and what the engine makes of it
    maxBytes: 2_750_000,
  },
  { role: 'apiserver', parts: ['apiserver'], maxBytes: 1_750_000 },
];
const common = new Set(['main', 'cli', 'chunk']);

const loaded = new Map<string, Loaded>();

before(async () => {
  await ensureBuilt();
  await using home = await temporaryFolder('weight-');
  await using records = await temporaryFolder('weight-loaded-');
  const run = async (env: NodeJS.ProcessEnv) => {
    const noRuntime = ['--container-runtime-endpoint', `unix://${join(home.path, 'none.sock')}`];
    await using agent = await startAgent({ rootDir: join(home.path, 'root'), args: noRuntime, env });
    await agent.process.waitForOutput(/the node is not Ready/, { timeoutMs: 90_000 }); // then it has nothing to do
    await agent.interrupt();
  };
  await run({}); // makes the keys and certificates, which later starts find
  const recorder = pathToFileURL(join(import.meta.dirname, 'weight/record-loaded.ts')).href;
  await run({ NODE_OPTIONS: `--import=${recorder}`, LOADED_FOLDER: records.path });
  for (const name of await readdir(records.path)) {
    const found: Loaded = JSON.parse(await readFile(join(records.path, name), 'utf8'));
    loaded.set(found.args[2] ?? '', found);
  }
});

function loadedBy(role: string): Loaded {
  const found = loaded.get(role);
  assert.ok(found, `what the ${role} has loaded is known`);
  return found;
}

for (const { role, parts, maxBytes } of roles) {
  describe(`an idle ${role}`, () => {
    const pathsOf = ({ files }: Loaded) =>
      [...new Set(files)]
        .map((url) => fileURLToPath(url))
        .filter((path) => path.startsWith(join(repository, 'dist/')));

    test('has loaded the parts of the program that it needs, and no other', () => {
      const names = pathsOf(loadedBy(role)).map((path) =>
        basename(path).replace(/(?:-[A-Z0-9]{8})?\.c?js$/, ''),
      );
      assert.ok(names.includes(role), names.join(' '));
      const others = names.filter((name) => !common.has(name) && !parts.includes(name));
      assert.deepEqual(others, []);
    });

    test(`has loaded at most ${maxBytes / 1e6} MB of text`, async () => {
      const files = await Promise.all(pathsOf(loadedBy(role)).map((path) => stat(path)));
      const bytes = files.reduce((sum, { size }) => sum + size, 0);
      assert.ok(bytes > maxBytes / 2 && bytes <= maxBytes, `${bytes} bytes in ${files.length} files`);
    });

    test('has not made Node.js load its own fetch and WebSocket', () => {
      const { builtins } = loadedBy(role);
      assert.ok(builtins.includes('NativeModule https'), 'the list of modules is complete');
      assert.ok(!builtins.includes('NativeModule internal/deps/undici/undici'));
    });
  });
}

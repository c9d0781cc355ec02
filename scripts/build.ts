import 'reflect-metadata'; // one of the packages that are looked into below wants it first
import { chmod, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { build } from 'esbuild';
import { askGit } from '../src/base/build.ts';
import { writeCommandFiles } from './build/command-files.ts';
import { leanBuiltins } from './build/lean-builtins.ts';
import { leanPackages } from './build/lean-packages.ts';
import { writeTestingTypes } from './build/testing-types.ts';

// Bundles the program into dist/: the command, the threads of the storage writer, of the archives' digests and of their sealing, the server for tests with its declarations,
// and chunks for what is loaded when it is needed. A bundle starts twice as fast as the same files one by one and needs
// a quarter less memory.

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
/** Made aside and then put in place, so that a build that fails leaves what was there. */
const outdir = `${dist}.new-${process.pid}`;

/**
 * A CommonJS package that is imported lazily would arrive with a default export only, where Node.js also finds its named
 * ones. So each such import goes through a module that names what Node.js finds.
 */
const lazyPackages: Plugin = {
  name: 'lazy-packages',
  setup(setup) {
    setup.onResolve({ filter: /^[^./]/ }, ({ kind, path, resolveDir }) => {
      if (kind !== 'dynamic-import' || path.startsWith('node:')) return undefined;
      return { path, namespace: 'lazy-package', pluginData: resolveDir };
    });
    setup.onLoad({ filter: /.*/, namespace: 'lazy-package' }, async ({ path, pluginData }) => {
      const found: object = await import(path);
      const names = Object.keys(found).filter((name) => /^[\w$]+$/.test(name));
      const source = JSON.stringify(path);
      const contents =
        names.length === 0 ? `import ${source};` : `export { ${names.join(', ')} } from ${source};`;
      return { contents, resolveDir: String(pluginData) };
    });
  },
};

/** Tests build programs of checkouts without git, too: then both are `unknown`. */
const nodewardBuild = JSON.stringify(JSON.stringify(askGit(root)));

/**
 * First in every chunk, as nobody knows which of them is run first: an older Node.js would fail in any of them, for a reason
 * that tells its user nothing.
 */
const needsNode24 =
  'if (Number.parseInt(process.versions.node) < 24) ' +
  'throw new Error("nodeward needs Node.js 24 or later; this is " + process.versions.node + ", " + process.execPath);';

const shared = {
  absWorkingDir: root,
  outdir,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'linked',
  minify: true, // the text stays in memory for as long as the process runs
  logLevel: 'warning',
  // the second: without undici's other parser of HTTP/1, an experiment
  define: { nodewardBuild, esbuildDetection: 'true' },
} as const;

await rm(outdir, { recursive: true, force: true });
await build({
  ...shared,
  entryPoints: { main: 'src/main.ts', testing: 'src/testing/index.ts' },
  splitting: true,
  chunkNames: '[name]-[hash]',
  // CommonJS packages inside the bundle ask for Node's own modules through require
  banner: {
    js: `${needsNode24}\nconst require = process.getBuiltinModule('node:module').createRequire(import.meta.url);`,
  },
  plugins: [leanPackages, leanBuiltins, lazyPackages],
});
// by itself: from the chunks of the others its thread would load ten times of what it needs
const thread = { ...shared, plugins: [leanBuiltins] };
await build({ ...thread, entryPoints: { 'sqlite-writer': 'src/apiserver/storage/sqlite/writer/writer.ts' } });
await build({ ...thread, entryPoints: { 'archive-digest': 'src/agent/checkpoint/dump/digest-worker.ts' } });
await build({ ...thread, entryPoints: { 'archive-seal': 'src/agent/checkpoint/sealing/seal-worker.ts' } });
await chmod(join(outdir, 'main.js'), 0o755);
await writeTestingTypes(root, outdir);
await writeCommandFiles(join(outdir, 'share'));
await putInPlace();

/** Two builds at once end with the program of one of them, whole. */
async function putInPlace(): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await rm(dist, { recursive: true, force: true });
    try {
      return await rename(outdir, dist);
    } catch (error) {
      if (attempt === 5) throw error; // another build was faster each time
    }
  }
}

/**
 * Makes the generated code, the sample configuration and the documentation of its fields from what they are made from.
 *
 *   node scripts/generate.ts           writes it
 *   node scripts/generate.ts --check   writes nothing; names every file that differs and ends with 1
 *
 * Works without a network: buf and its plugin are development dependencies.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { configFields } from '../src/agent/config/fields.ts';
import { podReasons } from '../src/agent/pods/explain/index.ts';
import { commandsPage } from './generate/commands.ts';
import { documentationWith, sampleWith } from './generate/configuration.ts';
import { podReasonsWith } from './generate/pod-reasons.ts';
import { servedKindsModule } from './generate/served-kinds.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const bin = join(root, 'node_modules/.bin');

/** A folder of .proto files and the folder its code lives in. */
const protobuf = [
  { from: 'proto/runtime', to: 'src/agent/runtime/gen' },
  { from: 'proto/criu', to: 'src/agent/checkpoint/archive/gen' },
  { from: 'proto/csi', to: 'src/agent/plugins/csi/gen' },
  { from: 'proto/dra', to: 'src/agent/plugins/dra/gen' },
  { from: 'proto/plugin-registration', to: 'src/agent/plugins/gen' },
  { from: 'proto/device-plugin', to: 'src/agent/plugins/devices/gen' },
  { from: 'proto/pod-resources', to: 'src/agent/plugins/pod-resources/gen' },
  { from: 'proto/health', to: 'src/agent/probes/gen' },
  { from: 'proto/etcd', to: 'src/apiserver/storage/etcd/gen' },
] as const;

async function generateInto(from: string, folder: string): Promise<void> {
  const template = join(root, 'proto/buf.gen.yaml');
  await run(join(bin, 'buf'), ['generate', join(root, from), '--template', template, '-o', folder], {
    cwd: root,
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` },
  });
}

async function filesBelow(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    found.set(relative(folder, path), await readFile(path, 'utf8'));
  }
  return found;
}

/** Calls `use` with a folder of fresh code, which is gone afterwards. */
async function withFresh<T>(from: string, use: (fresh: string) => Promise<T>): Promise<T> {
  const fresh = await mkdtemp(join(tmpdir(), 'nodeward-generate-'));
  try {
    await generateInto(from, fresh);
    return await use(fresh);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function differences(from: string, to: string): Promise<string[]> {
  return await withFresh(from, async (fresh) => {
    const [want, have] = [await filesBelow(fresh), await filesBelow(join(root, to))];
    const names = new Set([...want.keys(), ...have.keys()]);
    return [...names].filter((name) => want.get(name) !== have.get(name)).map((name) => join(to, name));
  });
}

const read = (path: string) => readFile(join(root, path), 'utf8').catch(() => '');

/** Files that are made from code, some of them in part: they get their present text. */
const texts: readonly { path: string; make(present: string): string | Promise<string> }[] = [
  { path: 'src/api/kinds/gen/served.ts', make: () => servedKindsModule(join(root, 'src/api/kinds')) },
  { path: 'etc/config.yaml', make: (present) => sampleWith(configFields, present) },
  { path: 'docs/commands.md', make: () => commandsPage() },
  { path: 'docs/configuration.md', make: (present) => documentationWith(configFields, present) },
  { path: 'docs/pods.md', make: (present) => podReasonsWith(podReasons, present) },
];

async function differingTexts(): Promise<string[]> {
  const checked = texts.map(async ({ path, make }) => {
    const present = await read(path);
    return present === (await make(present)) ? [] : [path];
  });
  return (await Promise.all(checked)).flat();
}

async function check(): Promise<void> {
  const folders = await Promise.all(protobuf.map(({ from, to }) => differences(from, to)));
  const differing = [...folders.flat().sort(), ...(await differingTexts())];
  for (const name of differing) {
    process.stderr.write(`${name} is not what its source generates; run: node scripts/generate.ts\n`);
  }
  if (differing.length > 0) process.exitCode = 1;
}

async function write(): Promise<void> {
  for (const { path, make } of texts) {
    const text = await make(await read(path));
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  for (const { from, to } of protobuf) {
    await withFresh(from, async (fresh) => {
      await rm(join(root, to), { recursive: true, force: true });
      await mkdir(join(root, to), { recursive: true }); // with the usual mode, the fresh one is private
      await cp(fresh, join(root, to), { recursive: true });
    });
  }
}

const unknown = process.argv.slice(2).filter((argument) => argument !== '--check');
if (unknown.length > 0) {
  process.stderr.write(`unknown argument ${unknown.join(' ')}; usage: node scripts/generate.ts [--check]\n`);
  process.exitCode = 2;
} else {
  await (process.argv.includes('--check') ? check() : write());
}

import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const files = ['types', 'start'];

/**
 * Writes the declarations of the package's entry `nodeward/testing` as one file that names no other, so that they are
 * all a user's compiler reads. `outdir` lies below `root`.
 */
export async function writeTestingTypes(root: string, outdir: string): Promise<void> {
  const work = join(outdir, 'declarations');
  await mkdir(work);
  try {
    const config = join(work, 'tsconfig.json');
    await writeFile(config, JSON.stringify(configFor(root, work)));
    // with the Node.js that runs this: that of the path may be missing, or older
    await promisify(execFile)(process.execPath, [
      join(root, 'node_modules/typescript/bin/tsc'),
      '-p',
      config,
    ]);
    const parts = await Promise.all(files.map((name) => readFile(join(work, `${name}.d.ts`), 'utf8')));
    await writeFile(join(outdir, 'testing.d.ts'), joined(parts));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Each file by itself: what it exports has its types written out. */
function configFor(root: string, work: string) {
  const source = join(root, 'src/testing');
  return {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      noCheck: true,
      noResolve: true,
      rootDir: source,
      outDir: work,
    },
    files: files.map((name) => join(source, `${name}.ts`)),
    include: [],
  };
}

function joined(parts: readonly string[]): string {
  const text = parts.join('').replaceAll(/^import .*\n/gm, '');
  const foreign = /\bfrom '[^']*'|\bimport\(/.exec(text);
  if (foreign === null) return text;
  throw new Error(`src/testing/types.ts must stand by itself, but its declarations have ${foreign[0]}`);
}

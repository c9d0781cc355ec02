/**
 * Checks that imports keep to the house's directions: `node scripts/check-imports.ts [ROOT]`. The rules are
 * in scripts/imports/rules.ts; besides, no file may import itself over others, nowhere in the repository.
 * Names every violation with file and line and ends with 1 when there is one.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { findCycles } from './imports/cycles.ts';
import { checkFile } from './imports/rules.ts';
import { readSourceFiles } from './imports/source-file.ts';

async function productionDependencies(root: string): Promise<Set<string>> {
  const description: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  if (typeof description !== 'object' || description === null || !('dependencies' in description)) {
    throw new Error(`${root}/package.json has no dependencies`);
  }
  return new Set(Object.keys(description.dependencies ?? {}));
}

async function main(root: string): Promise<void> {
  const dependencies = await productionDependencies(root);
  const files = await readSourceFiles(root, ['src', 'test', 'scripts', 'bench']);
  const own = files.filter(({ path }) => path.startsWith('src/'));
  if (own.length === 0) throw new Error(`${root}/src holds no TypeScript files`);
  const indexes = own.filter(({ path }) => path.endsWith('/index.ts'));
  const modules = new Set(indexes.map(({ path }) => dirname(path)));
  const complaints = [
    ...own
      .flatMap((file) => checkFile(file, { dependencies, modules }))
      .map(({ path, line, message }) => `${path}:${line}: ${message}`),
    ...findCycles(files).map((cycle) => `${cycle[0]}: import cycle ${cycle.join(' → ')}`),
  ];
  for (const complaint of complaints) process.stdout.write(`${complaint}\n`);
  process.stdout.write(`${own.length} files below src, ${complaints.length} violations\n`);
  if (complaints.length > 0) process.exitCode = 1;
}

await main(resolve(process.argv[2] ?? join(import.meta.dirname, '..')));

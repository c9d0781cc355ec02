import { glob, readFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';

export interface Import {
  /** As written. */
  specifier: string;
  line: number;
  /** The file meant, relative to the root, for a relative specifier. */
  target: string | undefined;
}

export interface SourceFile {
  /** Relative to the root, with slashes. */
  path: string;
  imports: readonly Import[];
}

// The formatter keeps declarations at the beginning of a line, so prose and strings do not match.
const declaration = /^(?:import|export)\s+(?:type\s+)?(?:[\w$*{][^'"`;=()]*?\sfrom\s*)?['"]([^'"\n]+)['"]/gm;
const dynamic = /\bimport\(\s*['"]([^'"\n]+)['"]/g;

/** Every TypeScript file below these folders of the root, with what it imports; generated files too. */
export async function readSourceFiles(root: string, folders: readonly string[]): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for await (const path of glob(
    folders.map((folder) => `${folder}/**/*.ts`),
    { cwd: root },
  )) {
    if (path.endsWith('.d.ts')) continue;
    files.push({ path, imports: findImports(path, await readFile(join(root, path), 'utf8')) });
  }
  return files.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** Static imports, re-exports and `import('…')`, types included. */
export function findImports(path: string, text: string): Import[] {
  const matches = [...text.matchAll(declaration), ...text.matchAll(dynamic)];
  return matches.map((match) => {
    const [, specifier = ''] = match;
    const line = text.slice(0, match.index).split('\n').length;
    const relative = specifier.startsWith('./') || specifier.startsWith('../');
    const target = relative ? posix.join(dirname(path), specifier) : undefined;
    return { specifier, line, target };
  });
}

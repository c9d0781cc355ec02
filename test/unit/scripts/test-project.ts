import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { CommandResult } from '../../support/index.ts';
import { runCommand, temporaryFolder } from '../../support/index.ts';

export const runner = resolve(import.meta.dirname, '../../../scripts/run-tests.ts');
const header = `import { describe, test, before } from 'node:test';\nimport assert from 'node:assert';\n`;

export interface ProjectRun {
  levels?: readonly string[];
  strict?: boolean;
  timeoutSeconds?: number;
  /** It has the compile cache of its own folder, which is empty at first; by default that of the tests. */
  hasOwnCache?: boolean;
}

/** Writes test files with their imports; a path is relative to `test`, and a text that begins with `//` stays first. */
export async function writeTests(root: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const place = join(root, 'test', path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, text.startsWith('//') ? text.replace('\n', `\n${header}`) : header + text);
  }
}

/** The environment of a runner that is itself run by a test. */
export function runnerEnvironment({
  strict = false,
  hasOwnCache = false,
}: ProjectRun = {}): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _context, NODE_COMPILE_CACHE: cache, ...outside } = process.env;
  const shared = cache === undefined || hasOwnCache ? {} : { NODE_COMPILE_CACHE: cache };
  return { ...outside, ...shared, CI: String(strict) };
}

/** Runs the runner on the tests below a folder. */
export async function runIn(root: string, options: ProjectRun = {}): Promise<CommandResult> {
  const { levels = ['unit'], timeoutSeconds = 30 } = options;
  const argv = [runner, '--root', root, '--timeout', String(timeoutSeconds), ...levels];
  return await runCommand(process.execPath, argv, { env: runnerEnvironment(options), timeoutMs: 100_000 });
}

/** Runs the runner over a folder with these test files. */
export async function runOver(
  files: Record<string, string>,
  options: ProjectRun = {},
): Promise<CommandResult> {
  await using root = await temporaryFolder();
  await writeTests(root.path, files);
  return await runIn(root.path, options);
}

export function lastLine({ stdout }: CommandResult): string | undefined {
  return stdout.trimEnd().split('\n').at(-1);
}

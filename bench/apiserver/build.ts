import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';

/** Builds the program, since that is what is measured, unless the command line says `built`. */
export async function buildUnlessBuilt(): Promise<void> {
  if (process.argv.includes('built')) return;
  const script = join(resolve(import.meta.dirname, '../..'), 'scripts/build.ts');
  const child = spawn(process.execPath, [script], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the build ended with ${code}`);
}

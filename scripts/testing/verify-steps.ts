import { join } from 'node:path';
import { runCommand } from '../../test/support/index.ts';
import type { Counts } from './counts.ts';
import { none, sum } from './counts.ts';
import type { RunContext } from './level.ts';

interface Step {
  name: string;
  /** The first word is looked for in node_modules/.bin. */
  command: readonly [string, ...string[]];
}

const steps: readonly Step[] = [
  { name: 'format', command: ['biome', 'format', '.'] },
  { name: 'lint', command: ['biome', 'check', '--formatter-enabled=false', '--error-on-warnings', '.'] },
  { name: 'types', command: ['tsc', '--noEmit', '-p', '.'] },
  { name: 'imports', command: ['node', 'scripts/check-imports.ts'] },
  { name: 'words', command: ['node', 'scripts/check-words.ts'] },
  { name: 'generated', command: ['node', 'scripts/generate.ts', '--check'] },
];

const timeoutMs = 300_000;
/** At the end of the run. */
const maxReportLines = 40;

/** Runs the checks that are no tests, each counted as one. What a failing one wrote is shown. */
export async function runVerifySteps(context: RunContext): Promise<Counts> {
  const counts: Counts[] = [];
  for (const step of steps) counts.push(await runStep(step, context));
  return sum(counts);
}

async function runStep({ name, command }: Step, { root, write, failures }: RunContext): Promise<Counts> {
  const [program, ...argv] = command;
  const bin = join(root, 'node_modules/.bin');
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  const start = performance.now();
  const result = await runCommand(join(bin, program), argv, { cwd: root, env, timeoutMs });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (result.code === 0) {
    write(`✔ ${name} (${seconds} s)\n`);
    return { ...none, passed: 1 };
  }
  const how = result.timedOut ? 'took too long' : command.join(' ');
  const report = `✖ ${name} (${seconds} s): ${how}\n${result.stdout}${result.stderr}\n`;
  write(report);
  failures.push(report.split('\n').slice(0, maxReportLines).join('\n'));
  return { ...none, failed: 1 };
}

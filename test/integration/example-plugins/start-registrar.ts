import { join } from 'node:path';
import type { SupervisedProcess } from '../../support/index.ts';
import { startProcess } from '../../support/index.ts';
import { scriptEnvironment } from './script.ts';
import type { PluginEvent } from './start.ts';

export interface RegistrarOptions {
  readonly folder: string;
  readonly prefix: string;
  readonly count?: number;
  readonly type?: string;
  readonly name?: string;
  readonly version?: string;
  readonly mode?: 'good' | 'hang' | 'mute' | 'garbage' | 'noise' | 'huge' | 'crash' | 'deaf' | 'flapping';
  /** Where `folder` counts from; default the test's own. */
  readonly cwd?: string;
}

export interface Registrar extends SupervisedProcess {
  /** What the agent has told it so far, the earliest first. */
  told(): readonly PluginEvent[];
}

/** Starts a registrar; resolves when its sockets are there. */
export async function startRegistrar({ cwd, ...options }: RegistrarOptions): Promise<Registrar> {
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const script = join(import.meta.dirname, 'registrar.ts');
  const child = await startProcess(process.execPath, [script, ...args], {
    env: scriptEnvironment(),
    ...(cwd === undefined ? {} : { cwd }),
  });
  await child.waitForOutput(/"event":"serving"/, { timeoutMs: 60_000 });
  const told = () =>
    child.stdout
      .split('\n')
      .slice(0, -1)
      .map((line): PluginEvent => JSON.parse(line))
      .filter(({ event }) => event !== 'serving');
  return Object.assign(child, { told });
}

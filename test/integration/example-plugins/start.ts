import { join } from 'node:path';
import type { SupervisedProcess } from '../../support/index.ts';
import { startProcess } from '../../support/index.ts';
import type { LabNamespace } from '../lab/index.ts';
import { scriptEnvironment } from './script.ts';

/** An example plugin as a process of its own. */
export interface ExamplePlugin extends SupervisedProcess {
  /** Its registration socket. */
  readonly registration: string;
  /** What it has said so far, the earliest first. */
  events(): readonly PluginEvent[];
}

export interface PluginEvent {
  readonly event: string;
  readonly [name: string]: unknown;
}

export interface PluginPlace {
  /** The folder that the agent watches. */
  readonly folder: string;
  /** Of both sockets; different for two processes at once. */
  readonly socket: string;
}

/** Starts `test/integration/example-plugins/KIND.ts`, in that namespace, and resolves when its sockets are there. */
export async function startPlugin(
  kind: 'csi' | 'dra',
  { folder, socket }: PluginPlace,
  args: readonly string[] = [],
  namespace?: Pick<LabNamespace, 'inside'>,
): Promise<ExamplePlugin> {
  const registration = join(folder, `${socket}-reg.sock`);
  const endpoint = join(folder, `.${socket}.sock`); // a name with a dot is no registration socket
  const script = join(import.meta.dirname, `${kind}.ts`);
  const argv = [script, ...['--registration', registration, '--endpoint', endpoint], ...args];
  const [command, ...rest] = namespace?.inside(process.execPath, argv) ?? [process.execPath, ...argv];
  const child = await startProcess(command, rest, { env: scriptEnvironment() });
  await child.waitForOutput(/"event":"serving"/, { timeoutMs: 60_000 });
  const events = () =>
    child.stdout
      .split('\n')
      .slice(0, -1)
      .map((line): PluginEvent => JSON.parse(line));
  return Object.assign(child, { registration, events });
}

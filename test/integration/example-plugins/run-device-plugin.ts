import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { waitFor } from '../../support/index.ts';
import type { DevicePluginCommand, DevicePluginOptions } from './device-plugin.ts';
import { scriptEnvironment } from './script.ts';

export interface PluginEvent {
  readonly event: string;
  readonly message?: string;
}

/** The example device plugin as a process. Disposing kills it. */
export interface DevicePluginProcess extends AsyncDisposable {
  readonly pid: number;
  readonly events: readonly PluginEvent[];
  command(command: DevicePluginCommand): void;
  /** Waits for so many events of that name. */
  saw(event: string, count?: number): Promise<PluginEvent>;
  kill(signal: NodeJS.Signals): void;
}

export async function runDevicePlugin(options: DevicePluginOptions): Promise<DevicePluginProcess> {
  const script = join(import.meta.dirname, 'device-plugin.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: scriptEnvironment(),
  });
  const closed = once(child, 'close');
  await once(child, 'spawn');
  const events: PluginEvent[] = [];
  let errors = '';
  createInterface({ input: child.stdout }).on('line', (line) => events.push(JSON.parse(line)));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000);
  });
  child.stdin.on('error', () => undefined); // it may be dead
  return {
    pid: child.pid ?? 0,
    events,
    command: (command) => void child.stdin.write(`${JSON.stringify(command)}\n`),
    saw: (event, count = 1) =>
      waitFor(
        `${count} times ${event} of the plugin for ${options.resource}`,
        () => {
          if (child.exitCode !== null) throw new Error(`the plugin has ended: ${errors}`);
          return events.filter((each) => each.event === event)[count - 1];
        },
        { timeoutMs: 60_000 },
      ),
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

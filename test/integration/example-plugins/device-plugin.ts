/**
 * A device plugin with devices that do not exist, as a process of its own:
 *
 *     node device-plugin.ts '{"folder":"/var/lib/nodeward/device-plugins","resource":"vendor.example/gpu","devices":[{"id":"d0"}]}'
 *
 * It does what real ones do: serves on a socket in the agent's folder, registers, looks whether the agent's socket is made
 * again, and then serves and registers again. With `registry` it waits in the plugin registry instead of calling. Standard
 * input takes a command a line, as JSON: {"do":"health","id":"d0","health":"Unhealthy"}, {"do":"list","devices":[…]},
 * {"do":"flood","count":100}, {"do":"end"} (its lists), {"do":"leave"} (its server), {"do":"crash"}. What happens is told
 * on standard output, a JSON object a line.
 */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registration } from '../../../src/agent/plugins/devices/gen/device-plugin_pb.js';
import { Registration as RegistryEntry } from '../../../src/agent/plugins/gen/registration_pb.js';
import { implement, openUnixClient, serveUnix } from '../../../src/base/grpc/index.ts';
import { describeError, silentLogger } from '../../../src/base/index.ts';
import type { FakeDevice, FakePlugin } from '../../support/fake-device-plugin.ts';
import { startFakePlugin } from '../../support/fake-device-plugin.ts';

export interface DevicePluginOptions {
  /** The agent's folder for device plugins. */
  folder: string;
  /** Default nodeward.sock. */
  agentSocket?: string;
  resource: string;
  devices: readonly FakeDevice[];
  /** File name of its socket; default `plugin.sock`. */
  endpoint?: string;
  /** Default v1beta1. */
  version?: string;
  /** Of its own registration socket in the plugin registry. */
  registry?: string;
}

export type DevicePluginCommand =
  | { do: 'health'; id: string; health: 'Healthy' | 'Unhealthy' }
  | { do: 'list'; devices: readonly FakeDevice[] }
  | { do: 'flood'; count: number }
  | { do: 'end' | 'leave' | 'crash' };

const options: DevicePluginOptions = JSON.parse(process.argv[2] ?? '{}');
const { folder, agentSocket = 'nodeward.sock', endpoint = 'plugin.sock', resource } = options;
const agent = join(folder, agentSocket);
const socket = join(folder, endpoint);
let plugin: FakePlugin | undefined;

function tell(event: string, rest: object = {}): void {
  process.stdout.write(`${JSON.stringify({ event, ...rest })}\n`);
}

async function serve(): Promise<void> {
  await plugin?.[Symbol.asyncDispose]();
  plugin = await startFakePlugin({ socket, devices: options.devices });
}

async function register(): Promise<boolean> {
  using client = openUnixClient(agent);
  const request = { version: options.version ?? 'v1beta1', endpoint, resourceName: resource };
  try {
    await client.unary(Registration.method.register, request, { deadlineMs: 20_000 });
    tell('registered');
    return true;
  } catch (error) {
    tell('refused', { message: describeError(error) });
    return false;
  }
}

const identityOf = async (path: string) => {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return found === undefined ? undefined : `${found.ino}-${found.birthtimeNs}`;
};

/** Registers whenever the agent's socket is another than it was. */
async function followAgent(): Promise<void> {
  let registeredWith: string | undefined;
  for (;;) {
    const now = await identityOf(agent);
    if (now !== undefined && now !== registeredWith) {
      await serve();
      if (await register()) registeredWith = now;
      else await sleep(500);
    }
    await sleep(50);
  }
}

/** Waits in the registry to be asked. */
async function waitInRegistry(path: string): Promise<void> {
  await serve();
  const entry = implement(RegistryEntry, {
    getInfo: async () => ({
      type: 'DevicePlugin',
      name: resource,
      endpoint: socket,
      supportedVersions: [options.version ?? 'v1beta1'],
    }),
    async notifyRegistrationStatus({ pluginRegistered, error }) {
      if (pluginRegistered) tell('registered');
      else tell('refused', { message: error });
      return {};
    },
  });
  await serveUnix({ path, services: [entry], log: silentLogger() });
}

async function obey(command: DevicePluginCommand): Promise<void> {
  switch (command.do) {
    case 'health':
      return plugin?.health(command.id, command.health);
    case 'list':
      return plugin?.list(command.devices);
    case 'flood':
      return plugin?.flood(command.count);
    case 'end':
      return plugin?.endLists();
    case 'leave':
      return await plugin?.[Symbol.asyncDispose]();
    case 'crash':
      process.kill(process.pid, 'SIGKILL');
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  obey(JSON.parse(line)).then(
    () => tell('done'),
    (error: unknown) => tell('failed', { message: describeError(error) }),
  );
});
await (options.registry === undefined ? followAgent() : waitInRegistry(options.registry));

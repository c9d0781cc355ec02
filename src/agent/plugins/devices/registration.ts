import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Implementation } from '../../../base/grpc/index.ts';
import { findSocketPathFault, GrpcError, grpcCodes, implement } from '../../../base/grpc/index.ts';
import type { Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { RegisterRequest } from './gen/device-plugin_pb.js';
import { Registration } from './gen/device-plugin_pb.js';
import type { DeviceManager } from './manager.ts';
import { RefusedPluginError } from './manager.ts';

export const deviceApiVersion = 'v1beta1';

export interface RegistrationOptions {
  readonly manager: Pick<DeviceManager, 'register' | 'check'>;
  /** Path of the agent's own socket; those of the plugins are in the same folder. */
  readonly socket: string;
  readonly log: Logger;
}

/**
 * The service `v1beta1.Registration`. As in the reference it responds after it has connected to the plugin and read its
 * options, so a plugin must serve before it calls. The response to a refused plugin has the reason.
 */
export function createRegistrationService({ manager, socket, log }: RegistrationOptions): Implementation {
  return implement(Registration, {
    async register(request, { signal }) {
      try {
        const plugin = await resolveSocket(request, socket);
        await manager.register(
          { resource: request.resourceName, socket: plugin, way: 'registration' },
          signal,
        );
        return {};
      } catch (error) {
        if (signal.aborted) throw error;
        const reason = describeError(error);
        log.warn(
          { resource: shorten(request.resourceName), endpoint: shorten(request.endpoint) },
          `a device plugin was refused: ${reason}`,
        );
        throw new GrpcError(codeOf(error), reason);
      }
    },
  });
}

function codeOf(error: unknown): number {
  if (error instanceof RefusedPluginError) return grpcCodes.FAILED_PRECONDITION;
  return error instanceof GrpcError ? error.code : grpcCodes.UNKNOWN;
}

/** Returns the path of the plugin's own socket; the endpoint must be a plain file name. */
async function resolveSocket({ version, endpoint }: RegisterRequest, own: string): Promise<string> {
  if (version !== deviceApiVersion) {
    const message = `the plugin speaks version ${JSON.stringify(shorten(version))} of the device plugin interface, this agent ${deviceApiVersion} only`;
    throw new RefusedPluginError(message);
  }
  const path = join(own, '..', endpoint);
  const isName = endpoint !== '' && endpoint !== '.' && endpoint !== '..' && !/[/\\\0]/.test(endpoint);
  if (!isName) {
    const message = `the endpoint ${JSON.stringify(shorten(endpoint))} is no file name; the plugin's socket belongs in the folder of ${basename(own)}`;
    throw new RefusedPluginError(message);
  }
  if (path === own) throw new RefusedPluginError(`the endpoint ${endpoint} is the agent's own socket`);
  const fault = findSocketPathFault(path);
  if (fault !== undefined) throw new RefusedPluginError(`${shorten(path)}: ${fault}`);
  const found = await lstat(path).catch(() => undefined); // it may not exist yet
  if (found?.isSymbolicLink())
    throw new RefusedPluginError(`${path} is a symbolic link; the plugin's socket itself belongs there`);
  return path;
}

const shorten = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

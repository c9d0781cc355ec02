import { GrpcError, grpcCodes, openUnixClient } from '../../base/grpc/index.ts';
import type { PluginInfo as Answer } from './gen/registration_pb.js';
import { Registration } from './gen/registration_pb.js';

/** The plugin's response to GetInfo, unchecked. */
export type PluginAnswer = Pick<Answer, 'type' | 'name' | 'endpoint' | 'supportedVersions'>;

/** A client of a registration socket; disposing ends the calls under way. */
export interface PluginPeer extends Disposable {
  /** Rejects with an Error that names the call and says why it failed. */
  info(cancel: AbortSignal): Promise<PluginAnswer>;
  /** Notifies the plugin of the result; `error` is why it is not registered. */
  notify(error: string | undefined, cancel: AbortSignal): Promise<void>;
}

/** The reference's deadlines. */
const infoDeadlineMs = 1000;
const notifyDeadlineMs = 5000;

/** Far more than a response needs. */
const maxMessageBytes = 64 * 1024;

/** Returns at once, whether or not a process listens on the socket. */
export function openPeer(socket: string): PluginPeer {
  const client = openUnixClient(socket, { maxMessageBytes });
  const { getInfo, notifyRegistrationStatus } = Registration.method;
  return {
    async info(cancel) {
      const call = client.unary(getInfo, {}, { deadlineMs: infoDeadlineMs, cancel });
      return await explainFailure('GetInfo', infoDeadlineMs, call);
    },
    async notify(error, cancel) {
      const status = { pluginRegistered: error === undefined, error: error ?? '' };
      const call = client.unary(notifyRegistrationStatus, status, { deadlineMs: notifyDeadlineMs, cancel });
      await explainFailure('NotifyRegistrationStatus', notifyDeadlineMs, call);
    },
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}

async function explainFailure<T>(method: string, deadlineMs: number, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error;
    throw new Error(`${method}: ${describeFailure(error, deadlineMs)}`);
  }
}

function describeFailure({ code, message }: GrpcError, deadlineMs: number): string {
  if (code === grpcCodes.DEADLINE_EXCEEDED) return `no answer within ${deadlineMs / 1000} s`;
  if (message.includes('ECONNREFUSED'))
    return 'nobody serves the socket; start the plugin, or remove its socket';
  if (code === grpcCodes.UNIMPLEMENTED) return `nobody answers that there: ${message}`;
  return message;
}

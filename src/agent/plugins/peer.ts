import { GrpcError, grpcCodes, openUnixClient } from '../../base/grpc/index.ts';
import type { PluginInfo as Answer } from './gen/registration_pb.js';
import { Registration } from './gen/registration_pb.js';

/** What the plugin said of itself, unchecked. */
export type PluginAnswer = Pick<Answer, 'type' | 'name' | 'endpoint' | 'supportedVersions'>;

/** The other side of a registration socket; disposing of it ends the calls under way. */
export interface PluginPeer extends Disposable {
  /** Rejects with an Error that says what went wrong with what. */
  info(cancel: AbortSignal): Promise<PluginAnswer>;
  /** Tells it what came of it; `error` is why it is not registered. */
  tell(error: string | undefined, cancel: AbortSignal): Promise<void>;
}

/** As the reference has them. */
const infoDeadlineMs = 1000;
const tellDeadlineMs = 5000;

/** Far more than a plugin has to say. */
const maxMessageBytes = 64 * 1024;

/** Returns at once, whether or not somebody listens. */
export function openPeer(socket: string): PluginPeer {
  const client = openUnixClient(socket, { maxMessageBytes });
  const { getInfo, notifyRegistrationStatus } = Registration.method;
  return {
    async info(cancel) {
      const call = client.unary(getInfo, {}, { deadlineMs: infoDeadlineMs, cancel });
      return await explained('GetInfo', infoDeadlineMs, call);
    },
    async tell(error, cancel) {
      const status = { pluginRegistered: error === undefined, error: error ?? '' };
      const call = client.unary(notifyRegistrationStatus, status, { deadlineMs: tellDeadlineMs, cancel });
      await explained('NotifyRegistrationStatus', tellDeadlineMs, call);
    },
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}

async function explained<T>(method: string, deadlineMs: number, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error;
    throw new Error(`${method}: ${wordsOf(error, deadlineMs)}`);
  }
}

function wordsOf({ code, message }: GrpcError, deadlineMs: number): string {
  if (code === grpcCodes.DEADLINE_EXCEEDED) return `no answer within ${deadlineMs / 1000} s`;
  if (message.includes('ECONNREFUSED'))
    return 'nobody serves the socket; start the plugin, or remove its socket';
  if (code === grpcCodes.UNIMPLEMENTED) return `nobody answers that there: ${message}`;
  return message;
}

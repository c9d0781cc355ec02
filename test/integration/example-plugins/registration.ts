import { Registration } from '../../../src/agent/plugins/gen/registration_pb.js';
import type { Implementation } from '../../../src/base/grpc/index.ts';
import { implement } from '../../../src/base/grpc/index.ts';
import { say } from './behaviour.ts';

export interface Registered {
  readonly type: string;
  readonly name: string;
  readonly endpoint: string;
  readonly versions: readonly string[];
}

/** What is behind a registration socket; what the agent tells is said to the test. */
export function registration({ type, name, endpoint, versions }: Registered): Implementation {
  return implement(Registration, {
    async getInfo() {
      say('asked');
      return { type, name, endpoint, supportedVersions: [...versions] };
    },
    async notifyRegistrationStatus({ pluginRegistered, error }) {
      say(pluginRegistered ? 'registered' : 'refused', { error });
      return {};
    },
  });
}

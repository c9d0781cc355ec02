/** The ways to a stream into a container: the runtime's own server reached directly, and through the control plane and the agent. */
import type { StreamCalls } from '../../src/agent/runtime/index.ts';
import type { SpdyClient } from '../../src/base/streams/index.ts';
import type { CommandSession, Protocol, StreamServer } from '../../test/integration/pods/index.ts';
import {
  askPort,
  execPath,
  startCommand,
  startCommandAt,
  startForwarding,
  startForwardingAt,
} from '../../test/integration/pods/index.ts';

export interface Place extends StreamServer {
  readonly calls: StreamCalls;
  readonly containerId: string;
  readonly sandboxId: string;
  readonly pod: string;
}

export type Start = (place: Place, command: string) => Promise<CommandSession>;

const through =
  (protocol: Protocol): Start =>
  (place, command) =>
    startCommand(place, protocol, execPath(place.pod, 'sh', '-c', command));

export const ways: Record<string, Start> = {
  'the runtime, directly': async ({ calls, containerId }, command) => {
    const wishes = { stdin: true, stdout: true, stderr: true, tty: false };
    return await startCommandAt(
      await calls.exec(containerId, ['sh', '-c', command], wishes, AbortSignal.timeout(10_000)),
    );
  },
  SPDY: through('SPDY'),
  'WebSocket, v5': through('WebSocket'),
};

/** What a port of the pod answers: its bytes, and how long the first of them took. */
export interface Answered {
  readonly bytes: number;
  readonly firstMs: number;
}

export type Ask = (place: Place, port: number, text: string) => Promise<Answered>;

const asking =
  (start: (place: Place) => Promise<SpdyClient>): Ask =>
  async (place, port, text) => {
    const client = await start(place);
    let bytes = 0;
    let firstMs = Number.NaN;
    const startMs = performance.now();
    await askPort(client, port, text, (piece) => {
      if (bytes === 0) firstMs = performance.now() - startMs;
      bytes += piece.length;
    });
    client.destroy();
    return { bytes, firstMs };
  };

export const portWays: Record<string, Ask> = {
  'the runtime, directly': asking(async ({ calls, sandboxId }) =>
    startForwardingAt(await calls.portForward(sandboxId, [], AbortSignal.timeout(10_000))),
  ),
  SPDY: asking((place) => startForwarding(place, 'SPDY', place.pod)),
  'WebSocket, tunnel': asking((place) => startForwarding(place, 'WebSocket', place.pod)),
};

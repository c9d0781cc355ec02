import { describeError } from '../../base/index.ts';
import type { ReadyMessage, SignMessage, ToAgent } from './messages.ts';
import { cutText, readToControlPlane, unreadableRequest } from './messages.ts';

/** The part of a process that its parent can be talked to through; `process` is one. */
export interface ParentChannel {
  readonly connected: boolean;
  send?(message: ToAgent, done: (error: Error | null) => void): unknown;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
}

export interface ChildEndOptions {
  /** Told once when the agent says stop or is gone. */
  onStop(): void;
}

/** What is to be signed, and for whom. */
type Request = Omit<SignMessage, 'type' | 'id'>;

/** The control plane's end of the channel. */
export interface ChildEnd {
  /** Says where it serves. From now on `sign` is asked for signatures; what it throws refuses them. */
  ready(message: Omit<ReadyMessage, 'type'>, sign: (request: Request) => Promise<string>): void;
  /** Says why the process ends; resolves when that is on its way. */
  failed(message: string, exitCode: number): Promise<void>;
}

/**
 * Listens to the agent: answers its pings from the event loop, so that a loop that hangs shows, and stops when the
 * agent says so or is gone, however it went: the channel closes with the last process that holds its other end.
 */
export function attachToAgent(channel: ParentChannel, { onStop }: ChildEndOptions): ChildEnd {
  let sign: ((request: Request) => Promise<string>) | undefined;
  let stopping = false;

  const send = (message: ToAgent) =>
    new Promise<void>((resolve) => {
      if (channel.connected && channel.send) channel.send(message, () => resolve());
      else resolve();
    });

  function stop(): void {
    if (stopping) return;
    stopping = true;
    onStop();
  }

  async function answer({ id, csrPem, usage, node, addresses }: SignMessage): Promise<void> {
    try {
      if (sign === undefined) throw new Error('the control plane is still starting');
      await send({ type: 'signed', id, pem: await sign({ csrPem, usage, node, addresses }) });
    } catch (error) {
      await refuse(id, describeError(error));
    }
  }

  async function refuse(id: number, why: string): Promise<void> {
    await send({ type: 'refused', id, why: cutText(why) });
  }

  channel.on('disconnect', stop);
  channel.on('message', (value) => {
    const message = readToControlPlane(value);
    if (message?.type === 'ping') void send({ type: 'pong' });
    else if (message?.type === 'stop') stop();
    else if (message?.type === 'sign') void answer(message);
    else {
      const id = unreadableRequest(value);
      if (id !== undefined) void refuse(id, 'the request for a signature cannot be read');
    }
  });
  if (!channel.connected) stop();

  return {
    ready(message, signer) {
      sign = signer;
      void send({ type: 'ready', ...message });
    },
    failed: (message, exitCode) => send({ type: 'failed', message: cutText(message), exitCode }),
  };
}

import { describeError } from '../../base/index.ts';
import type { ReadyMessage, SignMessage, ToAgent } from './messages.ts';
import { findInvalidRequestId, readToControlPlane, truncateText } from './messages.ts';

/** The IPC channel of a process to its parent; `process` is one. */
export interface ParentChannel {
  readonly connected: boolean;
  send?(message: ToAgent, done: (error: Error | null) => void): unknown;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
}

interface ChildEndOptions {
  /** Called once, when the agent sends stop or has gone. */
  onStop(): void;
}

type Sign = (request: Omit<SignMessage, 'type' | 'id'>) => Promise<string>;

/** The control plane's end of the channel. */
export interface ChildEnd {
  /** Announces where it serves. From now on requests for signatures go to `sign`; its errors refuse them. */
  ready(message: Omit<ReadyMessage, 'type'>, sign: Sign): void;
  /** Reports why the process exits; resolves when the message has been sent. */
  failed(message: string, exitCode: number): Promise<void>;
}

/**
 * Listens to the agent: answers its pings on the event loop, so that a blocked loop is noticed, and stops when the agent
 * sends stop or has gone. However the agent ends, the channel closes with the last process that holds its other end.
 */
export function attachToAgent(channel: ParentChannel, options: ChildEndOptions): ChildEnd {
  return new AgentChannel(channel, options);
}

class AgentChannel implements ChildEnd {
  readonly #channel: ParentChannel;
  readonly #options: ChildEndOptions;
  #sign: Sign | undefined;
  #isStopping = false;

  constructor(channel: ParentChannel, options: ChildEndOptions) {
    this.#channel = channel;
    this.#options = options;
    channel.on('disconnect', () => this.#stop());
    channel.on('message', (message) => this.#receive(message));
    if (!channel.connected) this.#stop();
  }

  ready(message: Omit<ReadyMessage, 'type'>, sign: Sign): void {
    this.#sign = sign;
    void this.#send({ type: 'ready', ...message });
  }

  failed(message: string, exitCode: number): Promise<void> {
    return this.#send({ type: 'failed', message: truncateText(message), exitCode });
  }

  #receive(value: unknown): void {
    const message = readToControlPlane(value);
    if (message?.type === 'ping') void this.#send({ type: 'pong' });
    else if (message?.type === 'stop') this.#stop();
    else if (message?.type === 'sign') void this.#answer(message);
    else {
      const id = findInvalidRequestId(value);
      if (id !== undefined) void this.#refuse(id, 'the request for a signature cannot be read');
    }
  }

  async #answer({ id, csrPem, usage, node, addresses }: SignMessage): Promise<void> {
    try {
      if (this.#sign === undefined) throw new Error('the control plane is still starting');
      await this.#send({ type: 'signed', id, pem: await this.#sign({ csrPem, usage, node, addresses }) });
    } catch (error) {
      await this.#refuse(id, describeError(error));
    }
  }

  async #refuse(id: number, why: string): Promise<void> {
    await this.#send({ type: 'refused', id, why: truncateText(why) });
  }

  /** Resolves when the message has been sent or the channel is closed. */
  #send(message: ToAgent): Promise<void> {
    return new Promise((resolve) => {
      if (this.#channel.connected && this.#channel.send) this.#channel.send(message, () => resolve());
      else resolve();
    });
  }

  #stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#options.onStop();
  }
}

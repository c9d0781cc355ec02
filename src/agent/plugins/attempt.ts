import type { Clock, Semaphore } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import { checkAnswer } from './check-answer.ts';
import type { PluginAnswer, PluginPeer } from './peer.ts';
import type { FoundSocket, PluginHandler, PluginInfo, PluginState } from './types.ts';

export interface AttemptParts {
  readonly handlers: ReadonlyMap<string, PluginHandler>;
  /** Throws an Error for a path that cannot be connected to. */
  open(socket: string): PluginPeer;
  /** How many plugins are asked who they are at a time. */
  readonly asking: Semaphore;
  readonly clock: Clock;
}

/** What is told while it goes on. */
export interface AttemptProgress {
  state(state: PluginState, plugin?: PluginInfo): void;
  /** The handler has it; the plugin is yet to be told. */
  registered(plugin: PluginInfo, handler: PluginHandler): void;
}

export type AttemptOutcome =
  | { readonly result: 'registered' }
  /** The handler has it, and the plugin does not know. */
  | { readonly result: 'untold'; readonly error: string }
  | { readonly result: 'failed'; readonly error: string; readonly hopeless?: true }
  /** The socket has changed meanwhile, or the agent stops; the handler has it where that was told, and only then. */
  | { readonly result: 'abandoned' };

/** A handler that has not come to an end by then is told to. */
const registerLimitMs = 3 * 60_000;

/**
 * One try to register what is behind a socket: who are you, is that all right, take it, tell it. A slot is held during
 * the first question only, which has a short end; what a handler does afterwards holds up nobody else.
 */
export async function attempt(
  socket: FoundSocket,
  parts: AttemptParts,
  progress: AttemptProgress,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  using stack = new DisposableStack();
  const slot = await parts.asking.acquire(signal).catch(() => undefined);
  if (slot === undefined) return { result: 'abandoned' };
  stack.use(slot);
  progress.state('asking');
  const opened = openPeer(socket, parts);
  if ('error' in opened) return { result: 'failed', error: opened.error, hopeless: true };
  const peer = stack.use(opened.peer);
  try {
    const answer = await peer.info(signal);
    slot[Symbol.dispose]();
    if (signal.aborted) return { result: 'abandoned' };
    return await takeIn(answer, peer, socket, parts, progress, signal);
  } catch (error) {
    if (signal.aborted) return { result: 'abandoned' };
    return { result: 'failed', error: words(error) };
  }
}

function openPeer({ path }: FoundSocket, { open }: AttemptParts): { peer: PluginPeer } | { error: string } {
  try {
    return { peer: open(path) };
  } catch (error) {
    return { error: words(error) };
  }
}

/** From its answer on the plugin can be told, and is, in the words of the reference. */
async function takeIn(
  answer: PluginAnswer,
  peer: PluginPeer,
  socket: FoundSocket,
  { handlers, clock }: AttemptParts,
  progress: AttemptProgress,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  try {
    const plugin = validated(() => checkAnswer(answer, socket));
    progress.state('validating', plugin);
    const handler = handlerOf(plugin, handlers);
    validated(() => handler.validate(plugin));
    progress.state('registering', plugin);
    await register(handler, plugin, clock, signal);
    progress.registered(plugin, handler);
  } catch (error) {
    if (signal.aborted) return { result: 'abandoned' };
    await peer.tell(`RegisterPlugin error -- ${words(error)}`, signal).catch(() => undefined); // the refusal counts
    return { result: 'failed', error: words(error) };
  }
  return await tellRegistered(peer, signal);
}

function validated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Error(`plugin validation failed with err: ${words(error)}`);
  }
}

function handlerOf(
  { type, socket }: PluginInfo,
  handlers: ReadonlyMap<string, PluginHandler>,
): PluginHandler {
  const handler = handlers.get(type);
  if (handler !== undefined) return handler;
  const supported = [...handlers.keys()].sort().map((name) => JSON.stringify(name));
  throw new Error(
    `no handler registered for plugin type: ${type} at socket ${socket}; supported types: ${supported.join(', ')}`,
  );
}

/** Tells a plugin that it is registered. */
export async function tellRegistered(peer: PluginPeer, signal: AbortSignal): Promise<AttemptOutcome> {
  try {
    await peer.tell(undefined, signal);
    return { result: 'registered' };
  } catch (error) {
    if (signal.aborted) return { result: 'abandoned' };
    return { result: 'untold', error: `it could not be told that it is registered: ${words(error)}` };
  }
}

async function register(
  handler: PluginHandler,
  plugin: PluginInfo,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const over = new AbortController();
  void clock.sleep(registerLimitMs, AbortSignal.any([done.signal, signal])).then(() => over.abort());
  try {
    await handler.register(plugin, AbortSignal.any([signal, over.signal]));
  } catch (error) {
    throw new Error(`plugin registration failed with err: ${words(error)}`);
  } finally {
    done.abort();
  }
}

const wordsLimit = 1000;

/** What was thrown. Part of it may be the plugin's own; it must not speak to a terminal. */
export function words(error: unknown): string {
  const text = describeError(error).replaceAll(/\p{Cc}+/gu, ' ');
  return text.length > wordsLimit ? `${text.slice(0, wordsLimit)}…` : text;
}

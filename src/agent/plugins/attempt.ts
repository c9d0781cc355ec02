import type { Clock, Semaphore } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import { checkAnswer } from './check-answer.ts';
import type { PluginAnswer, PluginPeer } from './peer.ts';
import type { FoundSocket, PluginHandler, PluginInfo, PluginState } from './types.ts';

export interface AttemptParts {
  readonly handlers: ReadonlyMap<string, PluginHandler>;
  /** Throws an Error for a path that cannot be connected to. */
  open(socket: string): PluginPeer;
  /** Limits how many plugins are asked for their info at a time. */
  readonly infoCalls: Semaphore;
  readonly clock: Clock;
}

/** Called during an attempt. */
export interface AttemptProgress {
  state(state: PluginState, plugin?: PluginInfo): void;
  /** The handler has taken the plugin; the plugin is not notified yet. */
  registered(plugin: PluginInfo, handler: PluginHandler): void;
}

export type AttemptOutcome =
  | { readonly result: 'registered' }
  /** The handler has taken the plugin, and the plugin could not be notified. */
  | { readonly result: 'unnotified'; readonly error: string }
  | { readonly result: 'failed'; readonly error: string; readonly hopeless?: true }
  /**
   * The socket has changed meanwhile, or the agent stops. The handler has taken the plugin if, and only if, `registered` of the
   * progress was called.
   */
  | { readonly result: 'abandoned' };

/** The time after which a handler's register() is aborted. */
const registerTimeoutMs = 3 * 60_000;

/**
 * One attempt to register the plugin behind a socket: ask for its info, validate it, pass it to its handler, notify it. The
 * slot is held during the first call only, which has a short deadline; a slow handler delays no other plugin.
 */
export async function attemptRegistration(
  socket: FoundSocket,
  parts: AttemptParts,
  progress: AttemptProgress,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  using stack = new DisposableStack();
  const slot = await parts.infoCalls.acquire(signal).catch(() => undefined);
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
    return await validateAndRegister(answer, peer, socket, parts, progress, signal);
  } catch (error) {
    if (signal.aborted) return { result: 'abandoned' };
    return { result: 'failed', error: describeFault(error) };
  }
}

function openPeer({ path }: FoundSocket, { open }: AttemptParts): { peer: PluginPeer } | { error: string } {
  try {
    return { peer: open(path) };
  } catch (error) {
    return { error: describeFault(error) };
  }
}

/** Validates and registers. From its first response on the plugin is notified of a refusal, in the words of the reference. */
async function validateAndRegister(
  answer: PluginAnswer,
  peer: PluginPeer,
  socket: FoundSocket,
  { handlers, clock }: AttemptParts,
  progress: AttemptProgress,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  try {
    const plugin = runValidation(() => checkAnswer(answer, socket));
    progress.state('validating', plugin);
    const handler = resolveHandler(plugin, handlers);
    runValidation(() => handler.validate(plugin));
    progress.state('registering', plugin);
    await register(handler, plugin, clock, signal);
    progress.registered(plugin, handler);
  } catch (error) {
    if (signal.aborted) return { result: 'abandoned' };
    // the refusal is reported even when the plugin cannot be notified
    await peer.notify(`RegisterPlugin error -- ${describeFault(error)}`, signal).catch(() => undefined);
    return { result: 'failed', error: describeFault(error) };
  }
  return await notifyRegistered(peer, signal);
}

function runValidation<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Error(`plugin validation failed with err: ${describeFault(error)}`);
  }
}

function resolveHandler(
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

/** Notifies a plugin that it is registered. */
export async function notifyRegistered(peer: PluginPeer, signal: AbortSignal): Promise<AttemptOutcome> {
  try {
    await peer.notify(undefined, signal);
    return { result: 'registered' };
  } catch (error) {
    if (signal.aborted) return { result: 'abandoned' };
    return {
      result: 'unnotified',
      error: `the plugin could not be notified of its registration: ${describeFault(error)}`,
    };
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
  void clock.sleep(registerTimeoutMs, AbortSignal.any([done.signal, signal])).then(() => over.abort());
  try {
    await handler.register(plugin, AbortSignal.any([signal, over.signal]));
  } catch (error) {
    throw new Error(`plugin registration failed with err: ${describeFault(error)}`);
  } finally {
    done.abort();
  }
}

const maxFaultLength = 1000;

/** Describes an error. Parts may come from the plugin, so control characters are removed: they must not reach a terminal. */
export function describeFault(error: unknown): string {
  const text = describeError(error).replaceAll(/\p{Cc}+/gu, ' ');
  return text.length > maxFaultLength ? `${text.slice(0, maxFaultLength)}…` : text;
}

/** One probe, once: within its time, and apart from one that cannot be run. */
import type { Clock } from '../../base/index.ts';
import { describeError, noReason } from '../../base/index.ts';
import type { PodCalls } from '../runtime/index.ts';
import type { PodCommands } from './commands.ts';
import { probeExec } from './probe-exec.ts';
import { probeGrpc } from './probe-grpc.ts';
import { probeHttp, probeTcp } from './probe-network.ts';
import type { Probe, ProbeOutcome, ProbePlace } from './types.ts';

export interface ProbeTools {
  readonly calls: Pick<PodCalls, 'execSync'>;
  readonly commands: PodCommands;
  readonly clock: Clock;
}

/** As the reference: a probe that cannot be run is tried so often, one right after the other. */
const maxTries = 3;
/** The runtime ends a command at its time, and answers a little later; one that holds its output open it waits for without end. */
const execSlackMs = 2000;
/** A wait that ends so much later than it should: this process did not run meanwhile. */
const maxLateMs = 500;
/** So often a probe is given its time again; a process that never gets to run on time would wait without end. */
const maxWaits = 4;

/** Never rejects but when `signal` aborts: then with its reason. */
export async function runProbe(
  probe: Probe,
  place: ProbePlace,
  tools: ProbeTools,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  let why = '';
  for (let tried = 0; tried < maxTries; tried += 1) {
    signal.throwIfAborted();
    try {
      return await tryProbe(probe, place, tools, signal);
    } catch (error) {
      signal.throwIfAborted();
      why = describeError(error);
    }
  }
  return { result: 'unknown', why };
}

async function tryProbe(
  probe: Probe,
  place: ProbePlace,
  tools: ProbeTools,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const { exec, httpGet, tcpSocket, grpc, timeoutSeconds = 1 } = probe;
  const within = (ms: number, call: (late: AbortSignal) => Promise<ProbeOutcome>) =>
    withinTime(tools.clock, ms, signal, call);
  const timeoutMs = timeoutSeconds * 1000;
  if (exec !== undefined) {
    const execute = (late: AbortSignal) => probeExec(exec, place, timeoutSeconds, tools.calls, late);
    return await tools.commands.run(() => within(timeoutMs + execSlackMs, execute), signal);
  }
  if (httpGet !== undefined) return await within(timeoutMs, (late) => probeHttp(httpGet, place, late));
  if (tcpSocket !== undefined) return await within(timeoutMs, (late) => probeTcp(tcpSocket, place, late));
  if (grpc !== undefined)
    return await within(timeoutMs, (late) => probeGrpc(grpc, place, timeoutSeconds, late));
  throw new Error('the probe names nothing to do');
}

/**
 * Gives `call` so much time in which this process runs: where it was stopped, or had no processor, what was answered meanwhile lies
 * unread, and is read first. The signal given to `call` aborts at the end of it, and with `signal`.
 */
export async function withinTime<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  call: (late: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const settled = new AbortController();
  const end = () => {
    settled.abort(noReason);
    late.abort(noReason);
  };
  signal.addEventListener('abort', end, { once: true });
  void untilRun(clock, ms, settled.signal).then(() => late.abort(noReason));
  try {
    signal.throwIfAborted();
    return await call(late.signal);
  } finally {
    signal.removeEventListener('abort', end);
    settled.abort(noReason);
  }
}

async function untilRun(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  for (let waited = 0; waited < maxWaits && !signal.aborted; waited += 1) {
    const fromMs = clock.monotonicMs();
    await clock.sleep(ms, signal);
    if (clock.monotonicMs() - fromMs - ms <= maxLateMs) return;
  }
}

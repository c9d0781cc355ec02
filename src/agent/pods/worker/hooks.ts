import type { Clock } from '../../../base/index.ts';
import type { HttpRequest, ProbePlace } from '../../probes/index.ts';
import { askHttp, HttpGetError, httpRequestOf, joinHostPort } from '../../probes/index.ts';
import type { PodCalls } from '../../runtime/index.ts';
import type { Container } from './pod-names.ts';

export type Handler = NonNullable<NonNullable<Container['lifecycle']>['preStop']>;

/** With what hooks are run. */
export interface HookTools {
  readonly calls: Pick<PodCalls, 'execSync'>;
  readonly clock: Pick<Clock, 'sleep'>;
  /** A hook that names HTTPS was answered without, and asked again so. */
  onPlainAnswer?(host: string): void;
}

/** For an Event. */
export function plainAnswer(host: string) {
  const message = `request to HTTPS lifecycle hook ${host} got HTTP response, retry with HTTP succeeded`;
  return { type: 'Warning', reason: 'LifecycleHTTPFallback', message } as const;
}

/**
 * Carries out a postStart or preStop hook. Rejects with what went wrong; that may quote the output of a program, so it is for the
 * agent's log and never for others. A tcpSocket does nothing, as in the reference.
 */
export async function runHook(
  handler: Handler,
  place: ProbePlace,
  tools: HookTools,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<void> {
  const { calls, clock } = tools;
  if (handler.exec !== undefined) {
    const { exitCode } = await calls.execSync(
      place.containerId,
      handler.exec.command ?? [],
      timeoutSeconds,
      signal,
    );
    if (exitCode !== 0) throw new Error(`the command exited with ${exitCode}`);
  } else if (handler.httpGet !== undefined) {
    await getUrl(httpRequestOf(handler.httpGet, place, 'lifecycle'), tools, signal);
  } else if (handler.sleep !== undefined) await clock.sleep((handler.sleep.seconds ?? 0) * 1000, signal);
}

/** As in the reference any answer will do, whatever its status: only that the request came through counts. */
async function getUrl(
  request: HttpRequest,
  { onPlainAnswer }: HookTools,
  signal: AbortSignal,
): Promise<void> {
  try {
    await askHttp(request, signal);
  } catch (error) {
    if (!(error instanceof HttpGetError && error.isPlainAnswer)) throw error;
    const headers = request.headers.filter(([name]) => name.toLowerCase() !== 'authorization');
    await askHttp({ ...request, scheme: 'http', headers }, signal);
    onPlainAnswer?.(joinHostPort(request.host, request.port));
  }
}

import { Agent, request } from 'undici';
import type { Pod } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import type { PodCalls } from '../../runtime/index.ts';

type Container = NonNullable<NonNullable<Pod['spec']>['containers']>[number];
export type Handler = NonNullable<NonNullable<Container['lifecycle']>['preStop']>;

export interface HookPlace {
  readonly containerId: string;
  readonly podIp: string | undefined;
  /** For ports by name. */
  readonly container: Pick<Container, 'ports'>;
}

/** How much of an answer is read; only its end matters. */
const bodyLimitBytes = 10 * 1024;

/**
 * Carries out a postStart or preStop hook. Rejects with what went wrong; that may quote the output of a program, so it is for the
 * agent's log and never for others. A tcpSocket does nothing, as in the reference.
 */
export async function runHook(
  handler: Handler,
  place: HookPlace,
  { calls, clock }: { readonly calls: PodCalls; readonly clock: Clock },
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<void> {
  if (handler.exec !== undefined) {
    const { exitCode } = await calls.execSync(
      place.containerId,
      handler.exec.command ?? [],
      timeoutSeconds,
      signal,
    );
    if (exitCode !== 0) throw new Error(`the command exited with ${exitCode}`);
  } else if (handler.httpGet !== undefined) await getUrl(handler.httpGet, place, timeoutSeconds, signal);
  else if (handler.sleep !== undefined) await clock.sleep((handler.sleep.seconds ?? 0) * 1000, signal);
}

async function getUrl(
  get: NonNullable<Handler['httpGet']>,
  place: HookPlace,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<void> {
  const host = get.host || place.podIp;
  if (host === undefined) throw new Error('the pod has no address');
  const { scheme = 'HTTP', path = '/', httpHeaders = [] } = get;
  const bracketed = host.includes(':') ? `[${host}]` : host;
  const url = new URL(`${scheme.toLowerCase()}://${bracketed}:${portOf(get.port, place)}`);
  const [pathname = '/', ...query] = path.split('?');
  url.pathname = pathname;
  url.search = query.join('?');
  const headers = Object.fromEntries(httpHeaders.map(({ name, value = '' }) => [name, value]));
  const timeout = timeoutSeconds === 0 ? 0 : timeoutSeconds * 1000;
  // a pod's certificate is its own affair, as for the reference
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const limits = { headersTimeout: timeout, bodyTimeout: timeout };
    const { statusCode, body } = await request(url, { dispatcher, headers, signal, ...limits });
    await body.dump({ limit: bodyLimitBytes });
    if (statusCode < 200 || statusCode >= 400) throw new Error(`HTTP status ${statusCode}`);
  } finally {
    await dispatcher.destroy();
  }
}

function portOf(port: number | string, { container }: HookPlace): number {
  if (typeof port === 'number') return port;
  const named = container.ports?.find(({ name }) => name === port)?.containerPort ?? Number(port);
  if (!Number.isInteger(named) || named < 1 || named > 65_535)
    throw new Error(`the container has no port ${JSON.stringify(port)}`);
  return named;
}

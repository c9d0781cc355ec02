import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Pod } from '../../api/index.ts';
import { StatusError } from '../../api/index.ts';
import type { Declined, Upgrade } from '../../base/https/index.ts';
import { passUpgrade, upgradeHeaders } from '../../base/https/index.ts';
import type { Clock, MetricsRegistry } from '../../base/index.ts';
import { describeError, errorCode } from '../../base/index.ts';
import type { Forwarded, ProxyTimes } from './forward.ts';
import { forward, minuteMs, streamTimes, untilEnded } from './forward.ts';
import { createPageStreams, isPage } from './page-body.ts';
import { createPageHeaders, createPodHeaders } from './pod-headers.ts';
import type { NamedPod, PodTarget } from './pod-target.ts';
import { resolvePod } from './pod-target.ts';
import { ProxySlots, proxyLimits, streamLimits } from './proxy-slots.ts';

/*
 * Requests to ports of pods through the control plane: `/api/v1/namespaces/NAMESPACE/pods/NAME/proxy/…`. The control plane
 * connects to the pod's address itself, so it must be in a network that reaches pods. Nobody certifies pods: over HTTPS any
 * certificate is accepted, as in the reference.
 */

export interface PodProxyOptions {
  metrics: MetricsRegistry;
  clock: Clock;
  /** Whether there may be pods at an address. Default: not at one of the machine or of its link. */
  isAllowed?(address: string): boolean;
}

/** A request to be forwarded to a pod. */
export interface PodRequest
  extends Pick<Forwarded, 'target' | 'untilMs' | 'bodyLimitBytes' | 'request' | 'response' | 'onAnswer'> {
  readonly pod: Pod;
  readonly namespace: string;
  readonly named: NamedPod;
  /** Where the pod's paths are for the caller. */
  readonly prefix: string;
  /** The name of the user who asks. */
  readonly requester: string;
}

export interface JoinedPodRequest extends PodRequest {
  readonly upgrade: Upgrade;
  /** Aborts when this server stops. */
  readonly stopping: AbortSignal;
}

/** Answers may last as long as their readers want; that one begins takes no longer than a caller would wait. */
const podTimes: ProxyTimes = { ...streamTimes, readMs: 60 * minuteMs, workMs: 60 * minuteMs };
const dialMs = 10_000;

export class PodProxy {
  readonly #options: PodProxyOptions;
  readonly #slots: ProxySlots;
  readonly #streams: ProxySlots;

  constructor(options: PodProxyOptions) {
    this.#options = options;
    const named = (what: string, unit: string) => ({
      open: { name: `nodeward_pod_proxy_${what}`, help: `${unit} to ports of pods that are open.` },
      refused: {
        name: `nodeward_pod_proxy_${what}_refused_total`,
        help: `${unit} to ports of pods that were answered 429, because too many were open.`,
      },
    });
    this.#slots = new ProxySlots(named('requests', 'Requests'), proxyLimits, options.metrics);
    this.#streams = new ProxySlots(named('streams', 'Upgraded connections'), streamLimits, options.metrics);
  }

  /** Resolves when all is over; rejects with a StatusError where no answer has begun. */
  async pass(asked: PodRequest): Promise<void> {
    const { request, requester, namespace, named, prefix } = asked;
    const target = resolvePod(asked.pod, named, this.#options.isAllowed);
    const peer = `pod ${namespace}/${named.name}`;
    using _slot = this.#slots.take(requester, peer);
    const { Pool } = await import('undici');
    // a connection of its own for each request: nothing stays open to pods that come and go
    const pool = new Pool(originOf(target), {
      connections: 1,
      connect: { timeout: dialMs, rejectUnauthorized: false },
      allowH2: false,
    });
    const from = request.socket.remoteAddress;
    const moved = { prefix, origin: originOf(target) };
    try {
      await forward(
        {
          ...asked,
          peer,
          toPeer: (_headers, hasBody) => createPodHeaders(request, target, { hasBody, from }),
          toCaller: (headers) => createPageHeaders(headers, prefix, target),
          through: (headers) =>
            request.method !== 'HEAD' && isPage(headers) ? createPageStreams(headers, moved) : [],
        },
        pool,
        podTimes,
        this.#options.clock,
      );
    } catch (error) {
      throw toReachError(error);
    } finally {
      await pool.destroy();
    }
  }

  /** Resolves when the stream is over, or with what the pod answered instead of one; rejects with a StatusError. */
  async join(asked: JoinedPodRequest): Promise<Declined | undefined> {
    const { request, requester, namespace, named, upgrade, onAnswer, untilMs, stopping } = asked;
    const { clock } = this.#options;
    const target = resolvePod(asked.pod, named, this.#options.isAllowed);
    using _slot = this.#streams.take(requester, `pod ${namespace}/${named.name}`);
    const ask = target.isSecure ? httpsRequest : httpRequest;
    const asking = ask({
      host: target.address,
      port: target.port,
      method: request.method,
      path: asked.target,
      agent: false,
      rejectUnauthorized: false,
      headers: {
        ...createPodHeaders(request, target, { hasBody: false, from: request.socket.remoteAddress }),
        'accept-encoding': 'identity', // what is answered instead of a stream is read as text
        ...upgradeHeaders(request),
      },
    });
    asking.once('socket', (socket) => {
      const late = setTimeout(() => asking.destroy(new Error('no answer in time')), dialMs);
      socket.once('connect', () => clearTimeout(late)).once('close', () => clearTimeout(late));
    });
    try {
      return await untilEnded({ untilMs, stopping, clock }, (joining, signal) =>
        passUpgrade({ asking, upgrade, signal, ...joining, carried: 'ports', onAgreed: onAnswer }),
      );
    } catch (error) {
      throw toReachError(error);
    }
  }
}

function originOf({ isSecure, address, port }: PodTarget): string {
  return `${isSecure ? 'https' : 'http'}://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

const away = /^(?:ECONN|EHOST|ENET|EPIPE|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|ERR_SSL|ERR_TLS|EPROTO)/;

/** 503 in the reference's words where the pod could not be reached. */
function toReachError(error: unknown): unknown {
  const cause = error instanceof StatusError ? error.cause : error;
  if (error instanceof StatusError && !away.test(errorCode(cause) ?? '')) return error;
  const message = `error trying to reach service: ${describeError(cause)}`;
  return new StatusError('ServiceUnavailable', message, { cause });
}

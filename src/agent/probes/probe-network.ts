/** Probes over HTTP, and by a connection alone. */
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { describeError } from '../../base/index.ts';
import { describeDialFault, describeDialTimeout } from './dial-fault.ts';
import { askHttp, HttpGetError, httpRequestOf } from './http-get.ts';
import { podLookups } from './name-lookups.ts';
import type { HttpGet, Probe, ProbeOutcome, ProbePlace } from './types.ts';
import { joinHostPort, resolveHost, resolvePort } from './types.ts';

/** 200 to 399 is success; whatever went wrong on the way, or took too long, is a failure. */
export async function probeHttp(get: HttpGet, place: ProbePlace, signal: AbortSignal): Promise<ProbeOutcome> {
  const request = httpRequestOf(get, place, 'probe');
  try {
    const { status, body } = await askHttp(request, signal);
    if (status >= 200 && status < 300) return { result: 'success' };
    if (status >= 300 && status < 400)
      return { result: 'success', warning: `Probe terminated redirects, Response body: ${body}` };
    // never with the body: it may hold what is not for those who read Events
    return { result: 'failure', output: `HTTP probe failed with statuscode: ${status}` };
  } catch (error) {
    if (error instanceof HttpGetError) return { result: 'failure', output: error.message };
    throw error;
  }
}

type TcpSocket = NonNullable<Probe['tcpSocket']>;

/** A connection that is made is success; nothing is sent. */
export async function probeTcp(
  { host: own, port: named }: TcpSocket,
  place: ProbePlace,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const port = resolvePort(named, place);
  const host = resolveHost(own, place);
  const socket = createConnection({ host, port, lookup: podLookups.lookup });
  try {
    await once(socket, 'connect', { signal });
    return { result: 'success' };
  } catch (error) {
    const address = joinHostPort(host, port);
    const why = signal.aborted ? describeDialTimeout(host, port) : describeDialFault(error, address);
    return { result: 'failure', output: why ?? describeError(error) };
  } finally {
    socket.on('error', () => undefined); // what breaks while it is closed
    socket.destroy();
  }
}

import { existsSync } from 'node:fs';
import { isAbsolute, normalize } from 'node:path';
import { maxSocketPathBytes } from '../../base/grpc/index.ts';

/** Where container runtimes listen by default; the first that exists is used. */
export const defaultEndpoints: readonly string[] = [
  'unix:///run/containerd/containerd.sock',
  'unix:///run/crio/crio.sock',
  'unix:///var/run/cri-dockerd.sock',
];

/**
 * Returns the socket's path of an endpoint such as `unix:///run/containerd/containerd.sock`. Throws an Error that says what
 * is wrong with any other text; only unix sockets are supported.
 */
export function parseEndpoint(endpoint: string): string {
  if (endpoint.startsWith('/')) {
    throw new Error(`container runtime endpoint ${endpoint} has no scheme; write unix://${endpoint}`);
  }
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(endpoint)?.[1]?.toLowerCase();
  if (scheme !== 'unix' || !endpoint.slice('unix:'.length).startsWith('//')) {
    throw new Error(`container runtime endpoint "${endpoint}" is not supported; use unix:///absolute/path`);
  }
  const path = endpoint.slice('unix://'.length);
  if (!isAbsolute(path) || path.includes('\0') || path === '/') {
    throw new Error(`container runtime endpoint "${endpoint}" needs an absolute path: unix:///absolute/path`);
  }
  if (Buffer.byteLength(path) > maxSocketPathBytes) {
    throw new Error(
      `container runtime endpoint ${endpoint}: a socket's path has at most ${maxSocketPathBytes} bytes`,
    );
  }
  return normalize(path);
}

/**
 * The first endpoint whose path exists, or undefined. Where there is no runtime this is asked twice a second for as long as that
 * lasts, and sockets are in memory: to look costs a hundredth of waking a thread that looks.
 */
export function findExistingEndpoint(endpoints: readonly string[]): string | undefined {
  return endpoints.find((endpoint) => existsSync(parseEndpoint(endpoint)));
}

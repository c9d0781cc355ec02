import { StorageError } from '../../types.ts';

/** The address of one member of the cluster. */
export interface Endpoint {
  /** `http://127.0.0.1:2379`, also for messages. */
  readonly url: string;
  /** `127.0.0.1:2379`. */
  readonly host: string;
  readonly secure: boolean;
}

/** Parses the addresses of etcd's members. Throws a StorageError that says what is wrong with one. */
export function parseEndpoints(servers: readonly string[]): readonly Endpoint[] {
  if (servers.length === 0) throw unusable('no server of etcd is given');
  return servers.map(parseEndpoint);
}

function parseEndpoint(text: string): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    throw unusable(`${withoutSecret(text)} is no address of an etcd server; it is like https://host:2379`);
  }
  const { protocol, hostname, username, password, pathname, search, hash } = url;
  if (username !== '' || password !== '') {
    throw unusable(`the address of etcd at ${hostname} holds a name or a password; use client certificates`);
  }
  if (pathname !== '/' || search !== '' || hash !== '') {
    throw unusable(`${text} has more than a host and a port; it is like https://host:2379`);
  }
  const host = `${hostname}:${url.port === '' ? defaultPortOf(text, protocol) : url.port}`;
  return { url: `${protocol}//${host}`, host, secure: protocol === 'https:' };
}

/** A URL drops its scheme's default port; when the text has no port, it is etcd's. */
function defaultPortOf(text: string, protocol: string): string {
  const own = protocol === 'https:' ? '443' : '80';
  return text.replace(/\/$/, '').endsWith(`:${own}`) ? own : '2379';
}

/** The part of an invalid address that may be in a message: a password would be before an @. */
function withoutSecret(text: string): string {
  return JSON.stringify(text.slice(text.lastIndexOf('@') + 1, 200));
}

function unusable(message: string): StorageError {
  return new StorageError('unusable', message);
}

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SupervisedProcess } from '../../support/index.ts';
import type { Content, ImageContent, ImageOptions } from './registry-content.ts';
import { buildImage } from './registry-content.ts';

/** What a registry does wrong; each until it is taken back. */
export interface RegistryFaults {
  /** Every request but `GET /v2/` is answered with it, such as 429 or 500. */
  status?: number | undefined;
  /** Before each answer. */
  delayMs?: number | undefined;
  /** For blobs; default as fast as it goes. */
  bytesPerSecond?: number | undefined;
  /** A blob that is larger is cut off after so many bytes, with a reset of the connection. */
  cutAfterBytes?: number | undefined;
  /** Nothing is answered; what is under way stops. */
  hangs?: boolean | undefined;
}

export interface RegistryRequest {
  readonly method: string;
  readonly path: string;
  /** The name in its credentials, whether or not they were right. */
  readonly user: string | undefined;
  readonly status: number;
}

export interface RegistryOptions {
  /** From there it is reached at the same address, 127.0.0.1. */
  namespace?: {
    readonly outside: string;
    start(command: string, argv: readonly string[]): Promise<SupervisedProcess>;
  };
}

/** A registry of images on the loopback, without TLS, for reading. Disposal ends all connections. */
export interface LabRegistry extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  /** Of all repositories. */
  readonly faults: RegistryFaults;
  /** What was asked, in order. */
  readonly requests: readonly RegistryRequest[];
  /** Serves an image as `NAME`, such as `web:1`; another one that was served so before is replaced. */
  add(name: string, options?: ImageOptions): Promise<ServedImage>;
  /** The repository takes only these, by HTTP Basic, each `USER:PASSWORD`; an empty list: it is open again. */
  protect(repository: string, credentials: readonly string[]): void;
  /** How often a manifest of the repository was asked for, well or not: HEAD and GET. */
  asked(repository: string): number;
  /** Ends the connections there are. */
  reset(): void;
}

export interface ServedImage {
  /** As a pod names it: `127.0.0.1:PORT/web:1`. */
  readonly name: string;
  /** The same by its digest. */
  readonly pinned: string;
  readonly digest: string;
}

export async function startRegistry({ namespace }: RegistryOptions = {}): Promise<LabRegistry> {
  await using setup = new AsyncDisposableStack();
  const registry = new Registry();
  const server = createServer((request, response) => void registry.serve(request, response));
  await once(server.listen(0, namespace?.outside ?? '127.0.0.1'), 'listening');
  setup.defer(async () => {
    registry.end();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the registry has no port');
  const host = `127.0.0.1:${address.port}`;
  if (namespace !== undefined) {
    const argv = ['--eval', relay, namespace.outside, String(address.port)];
    const child = setup.use(await namespace.start(process.execPath, argv));
    await child.waitForOutput(/^relaying$/m);
  }
  const resources = setup.move();
  return {
    host,
    faults: registry.faults,
    requests: registry.requests,
    async add(name, options) {
      const digest = registry.add(name, await buildImage(options));
      const [repository = ''] = name.split(':');
      return { name: `${host}/${name}`, pinned: `${host}/${repository}@${digest}`, digest };
    },
    protect: (repository, credentials) => registry.protect(repository, credentials),
    asked: (repository) =>
      registry.requests.filter(({ path }) => path.startsWith(`/v2/${repository}/manifests/`)).length,
    reset: () => server.closeAllConnections(),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Runs inside: passes on connections to the loopback there to where the registry listens. */
const relay = `
  const net = require('node:net');
  const [host, port] = process.argv.slice(1);
  net.createServer((client) => {
    const server = net.connect(Number(port), host);
    const end = () => { client.destroy(); server.destroy(); };
    for (const each of [client, server]) each.on('error', end).on('close', end);
    client.pipe(server).pipe(client);
  }).listen(Number(port), '127.0.0.1', () => console.log('relaying'));
`;

class Registry {
  readonly faults: RegistryFaults = {};
  readonly requests: RegistryRequest[] = [];
  /** Manifests by `REPOSITORY:TAG` and `REPOSITORY@DIGEST`. */
  readonly #manifests = new Map<string, Content>();
  readonly #blobs = new Map<string, Content>();
  readonly #protected = new Map<string, ReadonlySet<string>>();
  readonly #end = new AbortController();

  end(): void {
    this.#end.abort();
  }

  add(name: string, { manifest, blobs }: ImageContent): string {
    const [repository = ''] = name.split(':');
    this.#manifests.set(name, manifest);
    this.#manifests.set(`${repository}@${manifest.digest}`, manifest);
    for (const blob of blobs) this.#blobs.set(blob.digest, blob);
    return manifest.digest;
  }

  protect(repository: string, credentials: readonly string[]): void {
    if (credentials.length === 0) this.#protected.delete(repository);
    else this.#protected.set(repository, new Set(credentials));
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = request;
    response.on('error', () => undefined);
    const credentials = credentialsOf(request);
    const { status, content } = this.#answer(path, credentials);
    this.requests.push({ method, path, user: credentials?.split(':')[0], status });
    try {
      if (this.faults.hangs) return;
      await sleep(this.faults.delayMs ?? 0, undefined, { signal: this.#end.signal });
      if (status === 401) response.setHeader('www-authenticate', 'Basic realm="lab"');
      if (content === undefined) return void response.writeHead(status).end();
      response.writeHead(status, {
        'content-type': content.mediaType,
        'content-length': content.bytes.length,
        'docker-content-digest': content.digest,
      });
      if (method === 'HEAD') return void response.end();
      await pipeline(this.#pieces(content.bytes, path.includes('/blobs/')), response);
    } catch {
      response.destroy();
    }
  }

  #answer(path: string, credentials: string | undefined): { status: number; content?: Content } {
    if (path === '/v2/') return { status: 200 };
    const [, repository = '', kind, wanted = ''] =
      /^\/v2\/(.+)\/(manifests|blobs)\/([^/?]+)/.exec(path) ?? [];
    if (this.faults.status !== undefined) return { status: this.faults.status };
    const allowed = this.#protected.get(repository);
    if (allowed !== undefined && !allowed.has(credentials ?? '')) return { status: 401 };
    const separator = wanted.includes(':') ? '@' : ':';
    const content =
      kind === 'blobs' ? this.#blobs.get(wanted) : this.#manifests.get(`${repository}${separator}${wanted}`);
    return content === undefined ? { status: 404 } : { status: 200, content };
  }

  /** In pieces, so that the faults count from now on; it ends with an error where the answer is cut off. */
  async *#pieces(bytes: Buffer, isBlob: boolean): AsyncIterable<Buffer> {
    const pieceBytes = 16 * 1024;
    const wait = (ms: number) => sleep(ms, undefined, { signal: this.#end.signal });
    for (let sent = 0; sent < bytes.length; sent += pieceBytes) {
      const { bytesPerSecond, cutAfterBytes = Number.POSITIVE_INFINITY } = this.faults;
      if (isBlob && sent >= cutAfterBytes) throw new Error('cut off');
      while (this.faults.hangs) await wait(20);
      yield bytes.subarray(sent, sent + pieceBytes);
      if (isBlob && bytesPerSecond !== undefined) await wait((pieceBytes / bytesPerSecond) * 1000);
    }
  }
}

function credentialsOf({ headers }: IncomingMessage): string | undefined {
  const [scheme, encoded] = headers.authorization?.split(' ') ?? [];
  return scheme === 'Basic' && encoded !== undefined ? Buffer.from(encoded, 'base64').toString() : undefined;
}

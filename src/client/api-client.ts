import type { ApiObject, BodyType, Kind, ListOf } from '../api/index.ts';
import { apiVersionOf } from '../api/index.ts';
import { unintelligibleError } from './errors.ts';
import { splitLines } from './lines.ts';
import type {
  ClientOptions,
  DeleteOptions,
  ListOptions,
  ObjectOptions,
  Owner,
  PatchForm,
  Place,
  WatchOptions,
} from './options.ts';
import { collectionPath, objectPath, selectionQuery } from './paths.ts';
import type { WatchEvent } from './responses.ts';
import { ResponseParser, toStatusError } from './responses.ts';
import type { RawAnswer, RawRequest } from './transport.ts';
import { Transport } from './transport.ts';

const defaultMaxEventBytes = 16 * 1024 * 1024;

/**
 * A client of the API, typed by kind, with one set of credentials. Methods reject with a StatusError if the server refuses
 * the request, with a ConnectionError if there is no response of this API, and with the reason of a signal that aborts.
 * Requests are not retried. The creator closes it.
 */
export class ApiClient implements AsyncDisposable {
  readonly server: string;
  readonly #transport: Transport;
  readonly #suffix: string;
  readonly #maxEventBytes: number;

  /** Does not connect yet. Throws an ExitError for options that cannot be used. */
  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
    this.server = this.#transport.server;
    this.#suffix = options.groupSuffix ?? 'k8s.io';
    this.#maxEventBytes = options.eventLimitBytes ?? defaultMaxEventBytes;
  }

  async get<T extends ApiObject>(kind: Kind<T>, name: string, options: ObjectOptions = {}): Promise<T> {
    return this.#parser(kind).parseObject(
      await this.#send('GET', this.#pathOf(kind, name, options), options),
    );
  }

  /** All objects, or the first `limit` of them; without a namespace those of all namespaces. */
  async list<T extends ApiObject>(kind: Kind<T>, options: ListOptions = {}): Promise<ListOf<T>> {
    const path = collectionPath(kind, this.#suffix, options.namespace) + selectionQuery(options);
    return this.#parser(kind).parseList(await this.#send('GET', path, options));
  }

  /** POST, to the namespace of `options`, or else of the object. */
  async create<T extends ApiObject>(kind: Kind<T>, object: T, options: ObjectOptions = {}): Promise<T> {
    const namespace = options.namespace ?? object.metadata?.namespace;
    if (kind.namespaced && !namespace)
      throw new Error(`${kind.resource}: a namespace is needed to create one`);
    const path =
      options.subresource === undefined
        ? collectionPath(kind, this.#suffix, namespace)
        : this.#pathOf(kind, object.metadata?.name ?? '', {
            ...options,
            ...(namespace ? { namespace } : {}),
          });
    return this.#parser(kind).parseObject(
      await this.#send('POST', path, options, this.#serialize(kind, object)),
    );
  }

  /** POST of what a subresource of another object takes, such as a TokenRequest; returns the answer, which is of the same type. */
  async post<T extends ApiObject>(type: BodyType<T>, body: T, of: Owner, options: Place = {}): Promise<T> {
    const { kind, ...owner } = of;
    const path = objectPath(kind, this.#suffix, owner);
    return this.#parser(type).parseObject(
      await this.#send('POST', path, options, this.#serialize(type, body)),
    );
  }

  /** PUT; fails with a Conflict if `object` has a resourceVersion and the stored one is newer. */
  async replace<T extends ApiObject>(kind: Kind<T>, object: T, options: ObjectOptions = {}): Promise<T> {
    const namespace = options.namespace ?? object.metadata?.namespace;
    const place = { ...options, ...(namespace ? { namespace } : {}) };
    const path = this.#pathOf(kind, object.metadata?.name ?? '', place);
    return this.#parser(kind).parseObject(
      await this.#send('PUT', path, options, this.#serialize(kind, object)),
    );
  }

  /** PATCH with a change in the form `as`. */
  async patch<T extends ApiObject>(
    kind: Kind<T>,
    name: string,
    change: Readonly<Record<string, unknown>>,
    options: ObjectOptions & { as: PatchForm },
  ): Promise<T> {
    const request = toRequest('PATCH', this.#pathOf(kind, name, options), options, JSON.stringify(change));
    const answer = await this.#transport.send({ ...request, contentType: patchTypes[options.as] });
    return this.#parser(kind).parseObject(this.#bodyOf(answer));
  }

  /** Resolves when the object is deleted, or marked for deletion. */
  async delete(kind: Kind, name: string, options: DeleteOptions = {}): Promise<void> {
    const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds } = options;
    const path = this.#pathOf(kind, name, options);
    const values = [uid, resourceVersion, propagationPolicy, gracePeriodSeconds];
    const isPlain = values.every((value) => value === undefined);
    const preconditions = { uid, resourceVersion };
    const type = { kind: 'DeleteOptions', apiVersion: 'v1' };
    const body = { ...type, preconditions, propagationPolicy, gracePeriodSeconds };
    await this.#send('DELETE', path, options, isPlain ? undefined : JSON.stringify(body));
  }

  /**
   * Yields events until the server or `signal` ends the watch, neither of which is an error; leaving the loop ends it, too.
   * An ERROR event is thrown as a StatusError (Expired: list again). Watches share connections where the server speaks HTTP/2;
   * otherwise each has its own.
   */
  async *watch<T extends ApiObject>(
    kind: Kind<T>,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const query = selectionQuery(options);
    const path = `${collectionPath(kind, this.#suffix, options.namespace)}${query}${query ? '&' : '?'}watch=true`;
    const parser = this.#parser(kind);
    const { signal, idleTimeoutMs = 0, onOpened } = options;
    try {
      const chunks = this.#transport.stream(toRequest('GET', path, options), {
        idleTimeoutMs,
        onOpened,
        isWatch: true,
        toError: (answer) => toStatusError(this.server, answer),
      });
      for await (const line of splitLines(chunks, this.#maxEventBytes)) {
        if (line === undefined)
          throw unintelligibleError(this.server, `an event of more than ${this.#maxEventBytes} bytes`);
        yield parser.parseEvent(line);
      }
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  }

  /** Sends any request; returns the response with any status code. */
  async request(request: RawRequest): Promise<RawAnswer> {
    return await this.#transport.send(request);
  }

  /**
   * Yields the body of a successful response as it arrives; any other response is thrown as a StatusError. Fails if
   * nothing arrives for `idleTimeoutMs`; 0: no limit.
   */
  download(request: RawRequest, idleTimeoutMs: number): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#transport.stream(request, {
      idleTimeoutMs,
      isWatch: false,
      toError: (answer) => toStatusError(this.server, answer),
    });
  }

  /** Closes all connections; requests in flight fail. The next request opens a new one. */
  reset(): void {
    this.#transport.reset();
  }

  /** Closes all connections for good. May be called twice. */
  async close(): Promise<void> {
    this.#transport.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #parser<T extends ApiObject>(kind: BodyType<T>): ResponseParser<T> {
    return new ResponseParser(this.server, kind, this.#suffix);
  }

  #serialize<T extends ApiObject>(kind: BodyType<T>, object: T): string {
    return JSON.stringify({ ...object, kind: kind.kind, apiVersion: apiVersionOf(kind, this.#suffix) });
  }

  #pathOf(kind: Kind, name: string, { namespace, subresource }: ObjectOptions): string {
    return objectPath(kind, this.#suffix, { namespace, name, subresource });
  }

  async #send(method: RawRequest['method'], path: string, place: Place, body?: string): Promise<string> {
    return this.#bodyOf(await this.#transport.send(toRequest(method, path, place, body)));
  }

  #bodyOf(answer: RawAnswer): string {
    if (answer.code >= 200 && answer.code < 300) return answer.body;
    throw toStatusError(this.server, answer);
  }
}

const patchTypes: Readonly<Record<PatchForm, string>> = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/** Does not connect yet. */
export function createClient(options: ClientOptions): ApiClient {
  return new ApiClient(options);
}

function toRequest(method: RawRequest['method'], path: string, place: Place, body?: string): RawRequest {
  const { signal, timeoutMs } = place;
  return {
    method,
    path,
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

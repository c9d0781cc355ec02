import type { ApiObject, Kind, ListOf } from '../api/index.ts';
import { apiVersionOf } from '../api/index.ts';
import type { AnswerReader, WatchEvent } from './answers.ts';
import { answerReader, refusal } from './answers.ts';
import { unintelligible } from './errors.ts';
import { splitLines } from './lines.ts';
import type {
  ClientOptions,
  DeleteOptions,
  ListOptions,
  ObjectOptions,
  PatchForm,
  Place,
  WatchOptions,
} from './options.ts';
import { queryOf } from './options.ts';
import { collectionPath, objectPath } from './paths.ts';
import type { WireAnswer, WireRequest } from './transport.ts';
import { Transport } from './transport.ts';

const defaultEventLimitBytes = 16 * 1024 * 1024;

/**
 * A client of the API, typed by kind. A refusal of the server is a StatusError; a server that cannot be reached or
 * sends no answer of this API a ConnectionError; a signal that aborts rejects with its reason. Nothing is tried again
 * by itself. It is made for one set of credentials: for others make another. Whoever makes it closes it.
 */
export class ApiClient implements AsyncDisposable {
  readonly server: string;
  readonly #transport: Transport;
  readonly #suffix: string;
  readonly #eventLimitBytes: number;

  /** Connects to nothing yet. Throws an ExitError where the options cannot be used. */
  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
    this.server = this.#transport.server;
    this.#suffix = options.groupSuffix ?? 'k8s.io';
    this.#eventLimitBytes = options.eventLimitBytes ?? defaultEventLimitBytes;
  }

  async get<T extends ApiObject>(kind: Kind<T>, name: string, options: ObjectOptions = {}): Promise<T> {
    return this.#read(kind).object(await this.#ask('GET', this.#pathOf(kind, name, options), options));
  }

  /** All objects, or the first `limit` of them; without a namespace those of every namespace. */
  async list<T extends ApiObject>(kind: Kind<T>, options: ListOptions = {}): Promise<ListOf<T>> {
    const path = collectionPath(kind, this.#suffix, options.namespace) + queryOf(options);
    return this.#read(kind).list(await this.#ask('GET', path, options));
  }

  /** POST; into the namespace of `options`, else of the object. */
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
    return this.#read(kind).object(await this.#ask('POST', path, options, this.#write(kind, object)));
  }

  /** PUT; with a resourceVersion in `object` a Conflict when the stored one is newer. */
  async replace<T extends ApiObject>(kind: Kind<T>, object: T, options: ObjectOptions = {}): Promise<T> {
    const namespace = options.namespace ?? object.metadata?.namespace;
    const place = { ...options, ...(namespace ? { namespace } : {}) };
    const path = this.#pathOf(kind, object.metadata?.name ?? '', place);
    return this.#read(kind).object(await this.#ask('PUT', path, options, this.#write(kind, object)));
  }

  /** PATCH with what shall change, in the form that `as` says. */
  async patch<T extends ApiObject>(
    kind: Kind<T>,
    name: string,
    change: Readonly<Record<string, unknown>>,
    options: ObjectOptions & { as: PatchForm },
  ): Promise<T> {
    const request = wire('PATCH', this.#pathOf(kind, name, options), options, JSON.stringify(change));
    const answer = await this.#transport.ask({ ...request, contentType: patchTypes[options.as] });
    return this.#read(kind).object(this.#good(answer));
  }

  /** Resolves when the deletion is done or has begun. */
  async delete(kind: Kind, name: string, options: DeleteOptions = {}): Promise<void> {
    const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds } = options;
    const path = this.#pathOf(kind, name, options);
    const said = [uid, resourceVersion, propagationPolicy, gracePeriodSeconds];
    const isPlain = said.every((value) => value === undefined);
    const preconditions = { uid, resourceVersion };
    const type = { kind: 'DeleteOptions', apiVersion: 'v1' };
    const body = { ...type, preconditions, propagationPolicy, gracePeriodSeconds };
    await this.#ask('DELETE', path, options, isPlain ? undefined : JSON.stringify(body));
  }

  /**
   * Events until the server or `signal` ends them, which are both no errors; to leave the loop ends them too. An ERROR
   * event is thrown as a StatusError (Expired: list again). Each watch has a connection of its own.
   */
  async *watch<T extends ApiObject>(
    kind: Kind<T>,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const query = queryOf(options);
    const path = `${collectionPath(kind, this.#suffix, options.namespace)}${query}${query ? '&' : '?'}watch=true`;
    const read = this.#read(kind);
    const { signal, idleTimeoutMs = 0 } = options;
    try {
      const chunks = this.#transport.stream(wire('GET', path, options), idleTimeoutMs, (answer) =>
        refusal(this.server, answer),
      );
      for await (const line of splitLines(chunks, this.#eventLimitBytes)) {
        if (line === undefined)
          throw unintelligible(this.server, `an event of more than ${this.#eventLimitBytes} bytes`);
        yield read.event(line);
      }
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  }

  /** Any request, answered whatever the code; for what has no kind. `path` begins with a slash. */
  async request(request: WireRequest): Promise<WireAnswer> {
    return await this.#transport.ask(request);
  }

  /**
   * The bytes of a good answer as they come; any other is thrown as a StatusError. A server that is silent for longer
   * than `idleTimeoutMs` is given up.
   */
  download(request: WireRequest, idleTimeoutMs: number): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#transport.stream(request, idleTimeoutMs, (answer) => refusal(this.server, answer));
  }

  /** Destroys all connections; the next request makes a new one. What was under way fails. */
  reset(): void {
    this.#transport.reset();
  }

  /** Destroys all connections for good. May be called twice. */
  async close(): Promise<void> {
    this.#transport.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #read<T extends ApiObject>(kind: Kind<T>): AnswerReader<T> {
    return answerReader(this.server, kind, this.#suffix);
  }

  #write<T extends ApiObject>(kind: Kind<T>, object: T): string {
    return JSON.stringify({ ...object, kind: kind.kind, apiVersion: apiVersionOf(kind, this.#suffix) });
  }

  #pathOf(kind: Kind, name: string, { namespace, subresource }: ObjectOptions): string {
    return objectPath(kind, this.#suffix, { namespace, name, subresource });
  }

  async #ask(method: WireRequest['method'], path: string, place: Place, body?: string): Promise<string> {
    return this.#good(await this.#transport.ask(wire(method, path, place, body)));
  }

  #good(answer: WireAnswer): string {
    if (answer.code >= 200 && answer.code < 300) return answer.body;
    throw refusal(this.server, answer);
  }
}

const patchTypes: Readonly<Record<PatchForm, string>> = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/** Makes a client; connects to nothing yet. */
export function createClient(options: ClientOptions): ApiClient {
  return new ApiClient(options);
}

function wire(method: WireRequest['method'], path: string, place: Place, body?: string): WireRequest {
  const { signal, timeoutMs } = place;
  return {
    method,
    path,
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

import type { ApiObject, BodyType, Kind } from '../../api/index.ts';
import type {
  ApiCalls,
  CallOptions,
  DeleteOptions,
  ListOptions,
  Owner,
  PatchOptions,
  Place,
  WatchOptions,
} from '../../client/index.ts';
import { ApiClient } from '../../client/index.ts';
import type { Identity } from './credentials.ts';

/** A client of the API with the node's credentials: waits for them, and uses new ones when they change. */
export interface NodeApi
  extends ApiCalls,
    Pick<ApiClient, 'list' | 'watch' | 'delete' | 'post'>,
    AsyncDisposable {
  /** Destroys the connections; the next request opens new ones. */
  reset(): void;
}

/** Creates a client of the API with `connections` connections of its own. The caller closes it. */
export function nodeApi(
  { api: credentials, waitsFor }: Pick<Identity, 'api' | 'waitsFor'>,
  connections: number,
  groupSuffix: string,
): NodeApi {
  let client: ApiClient | undefined;
  const follow = credentials.onChange(() => replace());

  function replace(): void {
    const old = client;
    client = undefined;
    void old?.close();
  }

  async function clientInUse(signal: AbortSignal | undefined): Promise<ApiClient> {
    const options = credentials.value ?? (await unlessAborted(credentials.get(), signal));
    client ??= new ApiClient({ ...options, connections, groupSuffix });
    return client;
  }

  return {
    missingCredentials: () =>
      credentials.value === undefined ? (waitsFor?.() ?? 'it is being asked for') : undefined,
    async get<T extends ApiObject>(kind: Kind<T>, name: string, options: CallOptions = {}) {
      return await (await clientInUse(options.signal)).get(kind, name, options);
    },
    async create<T extends ApiObject>(kind: Kind<T>, object: T, options: CallOptions = {}) {
      return await (await clientInUse(options.signal)).create(kind, object, options);
    },
    async post<T extends ApiObject>(type: BodyType<T>, body: T, of: Owner, options: Place = {}) {
      return await (await clientInUse(options.signal)).post(type, body, of, options);
    },
    async replace<T extends ApiObject>(kind: Kind<T>, object: T, options: CallOptions = {}) {
      return await (await clientInUse(options.signal)).replace(kind, object, options);
    },
    async patch<T extends ApiObject>(
      kind: Kind<T>,
      name: string,
      change: Readonly<Record<string, unknown>>,
      options: PatchOptions,
    ) {
      return await (await clientInUse(options.signal)).patch(kind, name, change, options);
    },
    async list<T extends ApiObject>(kind: Kind<T>, options: ListOptions = {}) {
      return await (await clientInUse(options.signal)).list(kind, options);
    },
    async *watch<T extends ApiObject>(kind: Kind<T>, options: WatchOptions = {}) {
      yield* (await clientInUse(options.signal)).watch(kind, options);
    },
    async delete(kind: Kind, name: string, options: DeleteOptions = {}) {
      await (await clientInUse(options.signal)).delete(kind, name, options);
    },
    reset: () => client?.reset(),
    async [Symbol.asyncDispose]() {
      follow[Symbol.dispose]();
      await client?.close();
    },
  };
}

function unlessAborted<T>(value: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return value;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

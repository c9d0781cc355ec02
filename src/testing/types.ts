/*
 * The public types of `nodeward/testing`. This file imports nothing, so that the package needs no other declarations.
 */

export interface StartOptions {
  /** Objects in memory (default), or in a SQLite store, durable as in production. */
  storage?: 'memory' | 'sqlite';
  /**
   * Folder of the SQLite store and the server's keys: a server that is started there later has the same objects and
   * accepts the same credentials. Default: a temporary folder, removed with the server.
   */
  folder?: string;
  /** On 127.0.0.1. Default 0: the system chooses a free one. */
  port?: number;
  /** Domain suffix of API groups; default k8s.io. A store keeps the one that it was created with. */
  groupSuffix?: string;
  /** Features by name; others have their defaults. An unknown name is an error. */
  featureGates?: Readonly<Record<string, boolean>>;
  /** Whether pods without a node are given one, or say why there is none; default true. Without it, no one writes to pods but clients. */
  scheduler?: boolean;
  /** Whether clients are offered HTTP/2 beside HTTP/1.1; default false. */
  http2?: boolean;
  /** Default the system's. Certificates are valid from 2000 to 2099 by this clock. */
  clock?: Clock;
  /** Called with each line of the server's log, JSON; default: nothing is logged. */
  log?: (line: string) => void;
}

/** The server's time. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  /** Milliseconds since an arbitrary start; never goes back. */
  monotonicMs(): number;
  /** Resolves after `ms` of monotonic time, or at once when `signal` aborts; it does not reject. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A control plane in this process. It keeps the process alive until it is closed; disposing closes it. */
export interface TestApiServer extends AsyncDisposable {
  /** `https://127.0.0.1:port` */
  readonly url: string;
  /** PEM of the authority that issued its certificate. */
  readonly ca: string;
  /** Text of a self-contained kubeconfig of an administrator (group system:masters). */
  readonly kubeconfig: string;
  /** Writes `kubeconfig` to a file (0600) and returns its path. The file is removed with the server. */
  kubeconfigFile(): Promise<string>;
  /**
   * A client of the administrator, or of a user with these groups, with a new certificate. The server's authorization
   * decides what it may do.
   */
  client(user?: string, groups?: readonly string[]): Promise<TestClient>;
  readonly faults: Faults;
  /**
   * Stops the server: ends watches, lets running requests finish within 2 s, and removes everything. May be called twice.
   * Rejects if the server had failed before.
   */
  close(): Promise<void>;
}

/** The access of one user: `ca`, `cert` and `key` for HTTP libraries, `kubeconfig` for other tools. */
export interface TestClient {
  readonly url: string;
  /** PEM, all three. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** Text of a kubeconfig. */
  readonly kubeconfig: string;
  /**
   * Sends one request; resolves with any status code. An object is sent as JSON, a text as it is; `contentType` defaults to
   * application/json. Rejects if there is no response.
   */
  request(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object | string,
    contentType?: string,
  ): Promise<TestAnswer>;
}

export interface TestAnswer {
  readonly code: number;
  /** The parsed value if it is JSON, else the text. */
  readonly body: unknown;
  /** The header Retry-After. */
  readonly retryAfterSeconds?: number;
}

/** Failures on demand. Each fault lasts until it is cleared or has hit as often as it may. */
export interface Faults {
  /**
   * Drops all history, as if the history window had passed: open watches get 410 (Expired), and so does every watch, exact
   * list or continue token with an earlier version. The objects themselves are not affected. Returns the oldest version
   * that can still be used.
   */
  expireHistory(): Promise<string>;
  /** Closes the connections of open watches without a response; returns the number of watches that match. */
  dropWatches(match?: RequestMatch): number;
  /** Answers requests with an error instead of executing them, before they are authenticated. */
  answer(fault: AnswerFault): Fault;
  /** Delays requests by the server's clock; clearing ends the delay of those that wait. */
  delay(fault: DelayFault): Fault;
  /** Makes writes to the store fail, including matching ones of the server's own controllers. */
  failStorage(fault: StorageFault): Fault;
  /** `failStorage` as on a full disk: writes fail with 503, reads and watches work. */
  diskFull(): Fault;
  /** Ends all faults. */
  clear(): void;
}

/** A fault that was set. Disposing clears it. */
export interface Fault extends Disposable {
  /** How many requests or writes it has hit. */
  readonly hits: number;
  /** May be called twice. */
  clear(): void;
}

export interface AnswerFault {
  /** 400, 401, 403, 404, 409, 410, 422, 429, 500, 503 or 504. */
  status: number;
  /** Default: the usual one for the status (409: Conflict, 410: Expired). */
  reason?: string;
  message?: string;
  /** In the body and the header Retry-After, whole seconds; default none. */
  retryAfterSeconds?: number;
  /** How many requests it hits; default all. */
  times?: number;
  /** Which requests; default all. */
  match?: RequestMatch;
}

export interface DelayFault {
  ms: number;
  /** How many requests it hits; default all. */
  times?: number;
  /** Which requests; default all. */
  match?: RequestMatch;
}

export interface StorageFault {
  /**
   * `full`: no space. `unavailable`: the store accepts no writes. `unknown`: the outcome of the write is unknown (504);
   * `written` decides whether it was executed.
   */
  how: 'full' | 'unavailable' | 'unknown';
  /** With `unknown`: whether the write was executed; default false. */
  written?: boolean;
  /** How many writes it hits; default all. */
  times?: number;
  /** Which writes; default all. */
  match?: WriteMatch;
}

/** A request, described by its method and URL. */
export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** get, list, watch, create, update, patch, delete or deletecollection; for other paths the HTTP method. */
  readonly verb: string;
  /** Empty if the path has none; so are the following ones. */
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

/** All given properties must be equal, or match a RegExp. Or a function that decides. */
export type RequestMatch =
  | {
      readonly [Part in Exclude<keyof SeenRequest, 'query'>]?: string | RegExp;
    }
  | ((request: SeenRequest) => boolean);

/** A write to the store. */
export interface SeenWrite {
  readonly verb: 'create' | 'update' | 'delete';
  readonly resource: string;
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
}

/** As RequestMatch. */
export type WriteMatch =
  | { readonly [Part in keyof SeenWrite]?: string | RegExp }
  | ((write: SeenWrite) => boolean);

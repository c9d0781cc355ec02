/*
 * Everything that users of `nodeward/testing` see. It imports nothing, so that its declarations stand by themselves in
 * the package.
 */

export interface StartOptions {
  /** Objects in memory (default), or in a SQLite store, durable as in production. */
  storage?: 'memory' | 'sqlite';
  /**
   * Where a SQLite store and the server's keys are kept: a server that is started there later has the same objects and
   * takes the same credentials. Default: a temporary folder, removed with the server.
   */
  folder?: string;
  /** On 127.0.0.1. Default 0: the system chooses a free one. */
  port?: number;
  /** Domain suffix of API groups; default k8s.io. A store keeps the one it was made with. */
  groupSuffix?: string;
  /** Features by name; the others are as by default. One that the server does not have is an error. */
  featureGates?: Readonly<Record<string, boolean>>;
  /** Whether clients are offered HTTP/2 beside HTTP/1.1; default false. */
  http2?: boolean;
  /** Default the system's. Certificates are good from 2000 to 2099 by this clock. */
  clock?: Clock;
  /** Told every line of the server's log, JSON; default: nothing is logged. */
  log?: (line: string) => void;
}

/** Where the server's time comes from. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  /** Milliseconds since an arbitrary start; never goes back. */
  monotonicMs(): number;
  /** Resolves after `ms` of monotonic time, or at once when `signal` aborts; it does not reject. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * A control plane in this process. It listens, so it keeps the process alive until it is closed; disposing closes it.
 */
export interface TestApiServer extends AsyncDisposable {
  /** `https://127.0.0.1:port` */
  readonly url: string;
  /** PEM of the authority that its certificate comes from. */
  readonly ca: string;
  /** Text of an administrator's kubeconfig (group system:masters), complete in itself. */
  readonly kubeconfig: string;
  /** Writes `kubeconfig` to a file (0600) and answers its path. The file goes with the server. */
  kubeconfigFile(): Promise<string>;
  /**
   * Somebody's way to the server: the administrator's, or that of a user with these groups, under a certificate made for
   * them. What they may do is for the server to decide.
   */
  client(user?: string, groups?: readonly string[]): Promise<TestClient>;
  readonly faults: Faults;
  /**
   * Stops the server in order: watches end, what runs may finish within 2 s; then nothing of it is left. May be called
   * twice. Rejects when the server had failed before.
   */
  close(): Promise<void>;
}

/** How one user reaches the server: for undici, node:https and others `ca`, `cert` and `key`; for the rest `kubeconfig`. */
export interface TestClient {
  readonly url: string;
  /** PEM, all three. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** Text of a kubeconfig. */
  readonly kubeconfig: string;
  /**
   * One request, answered whatever the code. An object is sent as JSON, text as it is; `contentType` defaults to
   * application/json. Rejects when there is no answer.
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
  /** Parsed where it is JSON, else the text. */
  readonly body: unknown;
  /** The header Retry-After. */
  readonly retryAfterSeconds?: number;
}

/** What goes wrong on demand. Each fault lasts until it is cleared or has hit as often as it may. */
export interface Faults {
  /**
   * Forgets all history, as if more time had gone by than it is kept: open watches are told 410 (Expired), and so is
   * everybody who goes on from a version seen before, be it with a watch, an exact list or a continue token. Nothing is
   * lost of the objects themselves. Answers the oldest version that can still be gone on from.
   */
  expireHistory(): Promise<string>;
  /** Cuts the connections on which watches are open, without a word; answers how many watches that were. */
  dropWatches(match?: RequestMatch): number;
  /** Answers requests with an error instead of carrying them out, before anybody looks at who sent them. */
  answer(fault: AnswerFault): Fault;
  /** Holds requests back by the server's clock, then goes on with them; clearing lets those that wait go on at once. */
  delay(fault: DelayFault): Fault;
  /** Lets writes to the store fail, those of the server's own controllers too where they match. */
  failStorage(fault: StorageFault): Fault;
  /** `failStorage` as on a full disk: writes answer 503, reads and watches go on. */
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
  /** Default that which the status has mostly (409: Conflict, 410: Expired). */
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
   * `full`: no room. `unavailable`: the store takes no writes. `unknown`: it failed on the way (504), having written if
   * `written` says so.
   */
  how: 'full' | 'unavailable' | 'unknown';
  /** With `unknown`: whether the write was carried out nevertheless; default false. */
  written?: boolean;
  /** How many writes it hits; default all. */
  times?: number;
  /** Which writes; default all. */
  match?: WriteMatch;
}

/** A request, as far as its head tells. */
export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** get, list, watch, create, update, patch, delete or deletecollection; for a path that is no object's its method. */
  readonly verb: string;
  /** Of what is asked for; empty where the path does not say. */
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

/** All that is given must be the same; a pattern must be found. Or a function that decides. */
export type RequestMatch =
  | {
      readonly [Part in Exclude<keyof SeenRequest, 'query'>]?: string | RegExp;
    }
  | ((request: SeenRequest) => boolean);

/** A write to the store. */
export interface SeenWrite {
  readonly verb: 'create' | 'update' | 'delete';
  readonly resource: string;
  /** Empty for what is in none. */
  readonly namespace: string;
  readonly name: string;
}

/** As RequestMatch. */
export type WriteMatch =
  | { readonly [Part in keyof SeenWrite]?: string | RegExp }
  | ((write: SeenWrite) => boolean);

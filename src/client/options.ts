/** How a server is reached, and as whom. */
export interface ClientOptions {
  /** `https://host:port`, with a path in front of the API's if there is one. */
  server: string;
  /** PEM of the authorities that the server's certificate may come from. */
  ca: string;
  /** Client certificate and key, PEM; both or none. */
  cert?: string;
  key?: string;
  /** Bearer token. */
  token?: string;
  /** Name that the server's certificate must bear, when it is not the host of `server`. */
  serverName?: string;
  /** Domain suffix of API groups; default k8s.io. */
  groupSuffix?: string;
  /** For each request as a whole; of a watch only until its first byte. Default 30 s. */
  timeoutMs?: number;
  /** For TCP and TLS together; default 5 s. */
  connectTimeoutMs?: number;
  /** Connections at once, watches not counted; default 8. A heartbeat has a client of its own with 1. */
  connections?: number;
  /** A longer answer is an error; default 64 MiB. Lists that may be longer are read in chunks. */
  answerLimitBytes?: number;
  /** A longer event of a watch is an error; default 16 MiB. */
  eventLimitBytes?: number;
}

/** Where a request goes, and how long it may take. */
export interface Place {
  namespace?: string;
  signal?: AbortSignal;
  /** Instead of the client's; 0: none. */
  timeoutMs?: number;
}

export interface ObjectOptions extends Place {
  subresource?: string;
}

/** `merge`: RFC 7386. `strategic`: merges lists as the description of the kind says. */
export type PatchForm = 'merge' | 'strategic';

export interface DeleteOptions extends Place {
  /** Delete only the object that has this uid, or is at this version; else a Conflict. */
  uid?: string;
  resourceVersion?: string;
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  /** How long it may take to end; 0: at once. Default the object's own. */
  gracePeriodSeconds?: number;
}

interface Selection extends Place {
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface ListOptions extends Selection {
  /** At most so many objects; then `metadata.continue` of the answer leads to the next ones. */
  limit?: number;
  continue?: string;
}

export interface WatchOptions extends Selection {
  /** When the server ends the watch. */
  timeoutSeconds?: number;
  allowWatchBookmarks?: boolean;
  /** With `allowWatchBookmarks` and NotOlderThan: begin with all there is, and mark its end by a bookmark. */
  sendInitialEvents?: boolean;
  /** A watch that is silent for longer has lost its server; default 0: never. Wise with bookmarks only. */
  idleTimeoutMs?: number;
}

/** The query of a list or watch, with its `?`; empty when nothing is asked for. */
export function queryOf(options: ListOptions & WatchOptions): string {
  const query = new URLSearchParams();
  const names = [
    ...['labelSelector', 'fieldSelector', 'resourceVersion', 'resourceVersionMatch', 'limit', 'continue'],
    ...['timeoutSeconds', 'allowWatchBookmarks', 'sendInitialEvents'],
  ];
  const given = new Map<string, unknown>(Object.entries(options));
  for (const name of names) {
    const value = given.get(name);
    if (value !== undefined && value !== '' && value !== false) query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query}`;
}

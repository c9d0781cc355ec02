import type { Kind } from '../api/index.ts';

/** The address of a server and the credentials for it. */
export interface ClientOptions {
  /** `https://host:port`, with the prefix of all paths if there is one. */
  server: string;
  /** PEM of the authorities that may have issued the server's certificate. */
  ca: string;
  /** Client certificate and key, PEM; both or none. */
  cert?: string;
  key?: string;
  /** Bearer token. */
  token?: string;
  /** Name in the server's certificate, if it is not the host of `server`. */
  serverName?: string;
  /** Domain suffix of API groups; default k8s.io. */
  groupSuffix?: string;
  /** For a whole request; for a watch only until its first byte. Default 30 s. */
  timeoutMs?: number;
  /** For the TCP and TLS handshakes together; default 5 s. */
  connectTimeoutMs?: number;
  /** Max concurrent connections without those of watches; default 8. A heartbeat has a client of its own with 1. */
  connections?: number;
  /** Max size of a response; default 64 MiB. Lists that may be larger are read in chunks. */
  answerLimitBytes?: number;
  /** Max size of a watch event; default 16 MiB. */
  eventLimitBytes?: number;
}

/** The namespace of a request, and how long it may take. */
export interface Place {
  namespace?: string;
  signal?: AbortSignal;
  /** Overrides the client's; 0: no timeout. */
  timeoutMs?: number;
}

export interface ObjectOptions extends Place {
  subresource?: string;
}

/** The object, and which of its subresources, that a body is sent to. */
export interface Owner {
  kind: Kind;
  namespace?: string;
  name: string;
  subresource: string;
}

/** `merge`: RFC 7386. `strategic`: lists are merged as the description of the kind defines. */
export type PatchForm = 'merge' | 'strategic';

export interface DeleteOptions extends Place {
  /** Precondition: with another uid or version the request fails with a Conflict. */
  uid?: string;
  resourceVersion?: string;
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  /** Time for an ordered end; 0: at once. Default: the object's own. */
  gracePeriodSeconds?: number;
}

interface Selection extends Place {
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface ListOptions extends Selection {
  /** Max number of objects; `metadata.continue` of the response is the token for the next ones. */
  limit?: number;
  continue?: string;
}

export interface WatchOptions extends Selection {
  /** After this time the server ends the watch. */
  timeoutSeconds?: number;
  allowWatchBookmarks?: boolean;
  /** With `allowWatchBookmarks` and NotOlderThan: start with all existing objects, and mark their end by a bookmark. */
  sendInitialEvents?: boolean;
  /** Max time without an event, after which the watch fails; default 0: none. Useful only with bookmarks. */
  idleTimeoutMs?: number;
  /** Called when the server has accepted the watch, before its first event. */
  onOpened?: () => void;
}

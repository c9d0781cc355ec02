type Members = Readonly<Record<string, unknown>>;

/** One thing that a strategic merge patch does. Objects are cut down to what matters. */
export interface Case {
  /** What happens, as a sentence. */
  name: string;
  /** A Pod unless said otherwise. */
  kind?:
    | 'Pod'
    | 'Node'
    | 'ServiceAccount'
    | 'Event'
    | 'ConfigMap'
    | 'Namespace'
    | 'CertificateSigningRequest';
  given: Members;
  patch: Members;
  /** The object afterwards. */
  gives?: Members;
  /** Or how the patch is refused, and where in it. */
  refused?: { reason: 'malformed' | 'failed'; message: string };
}

export interface Rule {
  rule: string;
  cases: readonly Case[];
}

/** Items with nothing but a name. */
export function named(...names: string[]): { name: string }[] {
  return names.map((name) => ({ name }));
}

/** The item of that name goes. */
export function gone(name: string): Members {
  return { name, $patch: 'delete' };
}

/** An object whose spec has these containers. */
export function containers(...items: unknown[]): { spec: { containers: unknown[] } } {
  return { spec: { containers: items } };
}

/** A patch of containers with the order in which they shall stand. */
export function ordered(order: readonly string[], ...items: unknown[]): Members {
  return {
    spec: { '$setElementOrder/containers': named(...order), ...(items.length && { containers: items }) },
  };
}

export function malformed(message: string): Case['refused'] & object {
  return { reason: 'malformed', message };
}

export function failed(message: string): Case['refused'] & object {
  return { reason: 'failed', message };
}

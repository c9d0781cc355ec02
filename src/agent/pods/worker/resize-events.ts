import type { Pod } from '../../../api/index.ts';
import type { Happening } from '../../node/events/index.ts';
import type { PendingResize } from '../plan/index.ts';

/* What is reported of a resize, in the reference's form: a few words, then what was asked for as JSON. */

/** `pod`: with the resources that it was given, or is to get. */
export function resizeStarted(pod: Pod, generation: number): Happening {
  return toEvent('Normal', 'ResizeStarted', 'Pod resize started', pod, { generation });
}

export function resizeCompleted(pod: Pod, generation: number): Happening {
  return toEvent('Normal', 'ResizeCompleted', 'Pod resize completed', pod, { generation });
}

export function resizeFailed(pod: Pod, generation: number, error: string): Happening {
  return toEvent('Warning', 'ResizeError', 'Pod resize error', pod, { generation, error });
}

export function resizePending(pod: Pod, { reason, message, generation }: PendingResize): Happening {
  return toEvent('Warning', `Resize${reason}`, `Pod resize ${reason}`, pod, { generation, error: message });
}

type Containers = NonNullable<Pod['spec']>['containers'];

function toEvent(
  type: Happening['type'],
  reason: string,
  words: string,
  { spec }: Pod,
  more: { readonly generation: number; readonly error?: string },
): Happening {
  const list = (containers: Containers | undefined) =>
    containers?.map(({ name, resources: { limits, requests } = {} }) => ({
      name,
      resources: { limits: sorted(limits), requests: sorted(requests) },
    }));
  const summary = { initContainers: list(spec?.initContainers), containers: list(spec?.containers), ...more };
  return { type, reason, message: `${words}: ${JSON.stringify(summary)}` };
}

function sorted(quantities: Readonly<Record<string, string>> | undefined) {
  if (quantities === undefined) return undefined;
  return Object.fromEntries(Object.entries(quantities).sort(([a], [b]) => (a < b ? -1 : 1)));
}

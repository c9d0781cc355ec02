import type { Event } from '../../api/index.ts';
import { eventKind } from '../../api/index.ts';
import type { EventRecorder } from '../../client/events/index.ts';
import { createEventRecorder as createRecorder } from '../../client/events/index.ts';
import { ifFound } from '../../client/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { ControllerOptions } from './controller.ts';

const context = { user: controlPlaneUser, dryRun: false };

/** Records the actions of controllers as Events that are written through the registry. */
export function createEventRecorder({ registry, clock, log }: ControllerOptions): EventRecorder {
  const events = registry.of(eventKind);
  return createRecorder({
    writer: {
      async create(event) {
        await events.create(event.metadata?.namespace ?? '', event, context);
      },
      async read({ namespace, name }) {
        return await ifFound(Promise.try(() => events.encoding.read(events.get(namespace, name))));
      },
      async countUp({ namespace, name, ...change }) {
        const make = (event: Event): Event => ({ ...event, ...change });
        await events.change({ namespace, name }, { make, operation: 'Update' }, '', context);
      },
    },
    maxQueued: 10_000, // enough to report that a whole fleet falls silent; more is not worth the memory
    maxRemembered: 4096,
    concurrency: 8, // enough to share the store's group commits
    clock,
    log,
  });
}

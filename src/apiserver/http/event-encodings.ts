import type { ApiObject, TableInclude } from '../../api/index.ts';
import { apiVersionOf, toTable } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { Resource } from '../registry/index.ts';
import type { EventEncoding, Stored, WatchEventType } from '../storage/index.ts';
import type { Form } from './negotiate.ts';

/** The event encoding of a resource in a form. */
export type EventEncodings = (resource: Resource, form: Form) => EventEncoding;

/** The event encodings of every resource: one object per resource and form, so that watchers share their bytes. */
export function eventEncodings(clock: Clock): EventEncodings {
  const known = new Map<Resource, Map<string, EventEncoding>>();
  return (resource, form) => {
    const forms = known.get(resource) ?? new Map<string, EventEncoding>();
    known.set(resource, forms);
    const name = form.as === 'json' ? 'json' : `table ${form.include}`;
    const encoding =
      forms.get(name) ??
      (form.as === 'json' ? jsonEvents(resource) : tableEvents(resource, form.include, clock));
    forms.set(name, encoding);
    return encoding;
  };
}

const close = Buffer.from('}\n');

function jsonEvents(resource: Resource): EventEncoding {
  return {
    event(type: WatchEventType, object: Stored) {
      const open = Buffer.from(`{"type":"${type}","object":`);
      return Buffer.concat([open, resource.encoding.show(object), close]);
    },
    bookmark: (revision, initialEventsEnd) =>
      line('BOOKMARK', bookmarkObject(resource, revision, initialEventsEnd)),
  };
}

function tableEvents(resource: Resource, include: TableInclude, clock: Clock): EventEncoding {
  const settings = () => ({ groupSuffix: resource.groupSuffix, include, now: clock.now(), headers: true });
  return {
    event(type: WatchEventType, object: Stored) {
      const meta = { resourceVersion: String(object.revision) };
      return line(type, toTable(resource.kind, [resource.encoding.read(object)], meta, settings()));
    },
    bookmark(revision, initialEventsEnd) {
      const object = bookmarkObject(resource, revision, initialEventsEnd);
      return line(
        'BOOKMARK',
        toTable(resource.kind, [object], { resourceVersion: String(revision) }, settings()),
      );
    },
  };
}

function bookmarkObject(resource: Resource, revision: number, initialEventsEnd: boolean): ApiObject {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  return {
    kind: resource.kind.kind,
    apiVersion: apiVersionOf(resource.kind, resource.groupSuffix),
    metadata: { resourceVersion: String(revision), ...(initialEventsEnd ? { annotations } : {}) },
  };
}

function line(type: string, object: object): Buffer {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
}

import type { Labels } from '../../../api/index.ts';
import { readStoredLabels } from '../../../api/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';

type Readable = Pick<Resource, 'encoding'>;

/** Enough for the events of one turn of the event loop; beyond it the oldest are read again. */
const maxObjects = 2048;

/**
 * Decodes an object once for many read-only users: a fleet of node agents has one watch each, and every change is tested
 * against the selectors of all of them. Decoded objects are dropped at the end of the event loop's turn.
 */
export class SharedReads {
  readonly #objects = new Map<Readable, Map<Stored, object>>();
  readonly #labels = new Map<Stored, Labels>();
  #count = 0;
  #forgetting = false;

  /** The object as it is served. Shared: must not be changed. */
  object(resource: Readable, stored: Stored): object {
    const known = this.#objects.get(resource)?.get(stored);
    if (known !== undefined) return known;
    const object = resource.encoding.read(stored);
    this.#makeRoom();
    const objects = this.#objects.get(resource) ?? new Map<Stored, object>();
    this.#objects.set(resource, objects.set(stored, object));
    return object;
  }

  /** All labels of the object, without reading the rest of it where that is possible. */
  labels(resource: Readable, stored: Stored): Labels {
    const known = this.#labels.get(stored);
    if (known !== undefined) return known;
    const labels = readLabels(resource, stored);
    this.#makeRoom();
    this.#labels.set(stored, labels);
    return labels;
  }

  #makeRoom(): void {
    if (this.#count === maxObjects) this.#forget();
    this.#count++;
    if (this.#forgetting) return;
    this.#forgetting = true;
    setImmediate(() => {
      this.#forgetting = false;
      this.#forget();
    });
  }

  #forget(): void {
    this.#objects.clear();
    this.#labels.clear();
    this.#count = 0;
  }
}

function readLabels({ encoding }: Readable, stored: Stored): Labels {
  const at = encoding.metadataAt(stored);
  const found = at === 0 ? undefined : readStoredLabels(stored.value, at);
  return found ?? encoding.read(stored).metadata?.labels ?? {};
}

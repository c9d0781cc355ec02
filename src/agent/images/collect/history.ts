import type { LocalImage } from '../image-calls.ts';

/** What is remembered of an image that is on the node; times are monotonic. */
export interface KnownImage {
  readonly image: LocalImage;
  /** When the agent found it first. */
  readonly sinceMs: number;
  /** It was there when the agent started: how long, is not known, so that it counts as old enough. */
  readonly wasThere: boolean;
  /** When it was found in use last; undefined: never. */
  readonly usedMs: number | undefined;
}

/** Since when images are on the node, and when each was used last, as far as this agent has looked. */
export class ImageHistory {
  #known: ReadonlyMap<string, KnownImage> | undefined;

  /** Notes what is there now, and forgets what is not. */
  note(images: readonly LocalImage[], used: ReadonlySet<string>, nowMs: number): void {
    const before = this.#known;
    this.#known = new Map(
      images.map((image): [string, KnownImage] => {
        const known = before?.get(image.id);
        const { sinceMs = nowMs, wasThere = before === undefined } = known ?? {};
        const usedMs = isUsed(image, used) ? nowMs : known?.usedMs;
        return [image.id, { image, sinceMs, wasThere, usedMs }];
      }),
    );
  }

  /** The longest unused first, of those the longest known. */
  get images(): readonly KnownImage[] {
    return [...(this.#known?.values() ?? [])].sort(compareLongestUnused);
  }
}

/** `used` has ids and names. */
export function isUsed({ id, names }: LocalImage, used: ReadonlySet<string>): boolean {
  return used.has(id) || names.some((name) => used.has(name));
}

/** Since when nobody has used it, as far as that is known. */
export function unusedSince({ sinceMs, usedMs }: KnownImage): number {
  return usedMs ?? sinceMs;
}

function compareLongestUnused(a: KnownImage, b: KnownImage): number {
  const [usedA, usedB] = [a, b].map(({ usedMs }) => usedMs ?? Number.NEGATIVE_INFINITY);
  if (usedA !== usedB) return (usedA ?? 0) < (usedB ?? 0) ? -1 : 1;
  return a.sinceMs - b.sinceMs || (a.image.id < b.image.id ? -1 : 1);
}

import type { NodeStatus } from '../../api/index.ts';
import type { ImageView } from './runtime-view.ts';

/** How many names of an image the status has, as in the reference. */
const maxNames = 5;
const maxNameLength = 1024;

/** Returns the images for the status, the largest first; -1 for `maxImages`: all. Undefined while they are not known. */
export function selectImages(images: ImageView['images'], maxImages: number): NodeStatus['images'] {
  const chosen = maxImages < 0 ? images : images?.slice(0, maxImages);
  return chosen?.map(({ names, sizeBytes }) => ({
    names: names.filter((name) => name.length <= maxNameLength).slice(0, maxNames),
    sizeBytes,
  }));
}

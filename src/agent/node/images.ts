import type { NodeStatus } from '../../api/index.ts';
import type { ImageView } from './runtime-view.ts';

/** As many names of an image stand in the status, as in the reference. */
const namesLimit = 5;
const nameLimit = 1024;

/** The images to list in the status, the largest first; `most` is how many, -1 for all. Undefined while none are known. */
export function listedImages(images: ImageView['images'], most: number): NodeStatus['images'] {
  const chosen = most < 0 ? images : images?.slice(0, most);
  return chosen?.map(({ names, sizeBytes }) => ({
    names: names.filter((name) => name.length <= nameLimit).slice(0, namesLimit),
    sizeBytes,
  }));
}

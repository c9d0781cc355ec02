/**
 * criu's image files. They begin with two magic numbers of four bytes, little-endian: one for all images, then one for
 * the kind of image; inventory.img has only the second. Then come protobuf messages, each after its length in four bytes.
 */
import { limits } from './limits.ts';

const commonMagic = 0x54564319;

/** The magic number of each kind that is read. */
export const magics = {
  inventory: 0x58313116,
  tree: 0x50273030,
  core: 0x55053847,
  ids: 0x54432030,
  memory: 0x57492820,
  pagemap: 0x56084025,
  descriptors: 0x56213732,
  files: 0x56303138,
  mounts: 0x55563928,
} as const;

export type ImageKind = keyof typeof magics;

/** An image that is not of the expected kind, or is too large. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
}

interface ImageReader {
  /** Takes the next bytes of the image; keeps no reference to them. Throws an ImageError, or what `take` throws. */
  push(chunk: Uint8Array): void;
  /** Throws an ImageError when the image ends in the middle. */
  end(): void;
}

/** Calls `take` with each message as soon as it is complete; its bytes are valid until the next call. */
export function createImageReader(
  kind: ImageKind,
  take: (message: Uint8Array, index: number) => void,
): ImageReader {
  let held: Buffer | undefined;
  let filled = 0;
  let wanted = 4;
  let state: 'magic' | 'length' | 'message' = 'magic';
  let first: number | undefined;
  let count = 0;

  function checkMagic(number: number): void {
    if (first === undefined && number === commonMagic) {
      first = number;
      return;
    }
    if (number !== magics[kind])
      throw new ImageError(`it is no image of this kind (0x${number.toString(16)})`);
    state = 'length';
  }

  function checkLength(number: number): void {
    if (number > limits.messageBytes) throw new ImageError(`a message of ${number} bytes is too large`);
    [state, wanted] = ['message', number];
  }

  function takePiece(piece: Buffer): void {
    if (state === 'magic') checkMagic(piece.readUInt32LE(0));
    else if (state === 'length') checkLength(piece.readUInt32LE(0));
    else {
      [state, wanted] = ['length', 4];
      take(piece, count++);
    }
  }

  return {
    push(chunk) {
      let at = 0;
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      for (;;) {
        if (held === undefined && bytes.length - at >= wanted) {
          at += wanted;
          takePiece(bytes.subarray(at - wanted, at));
          continue;
        }
        held ??= Buffer.allocUnsafe(wanted);
        const copied = bytes.copy(held, filled, at);
        [at, filled] = [at + copied, filled + copied];
        if (filled < held.length) return;
        const piece = held;
        [held, filled] = [undefined, 0];
        takePiece(piece);
      }
    },
    end() {
      if (filled > 0 || state === 'magic' || state === 'message') {
        throw new ImageError('it ends in the middle');
      }
    },
  };
}

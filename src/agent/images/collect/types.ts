/** When images that no container has are removed. */
export interface CollectionSettings {
  /** How full their file system may be; from then on images are removed. 100: never. */
  readonly highPercent: number;
  /** Down to which they are. */
  readonly lowPercent: number;
  /** How long an image is left alone after it came. */
  readonly minAgeMs: number;
  /** After how long without use it is removed though there is room; 0: never. */
  readonly maxAgeMs: number;
}

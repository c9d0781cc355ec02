/** A volume cannot be set up yet, or cannot be released; it is tried again. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError';
  /** The step as the reference names it, such as `MountVolume.MountDevice`; empty: the message says all. */
  readonly step: string;
  /** It is tried again after so long at the latest; undefined: as for other failures. */
  readonly maxWaitMs: number | undefined;

  constructor(
    message: string,
    {
      step = setUpStep,
      maxWaitMs,
      ...options
    }: ErrorOptions & { readonly step?: string; readonly maxWaitMs?: number | undefined } = {},
  ) {
    super(message, options);
    this.step = step;
    this.maxWaitMs = maxWaitMs;
  }
}

export const setUpStep = 'MountVolume.SetUp';
export const mountDeviceStep = 'MountVolume.MountDevice';

/** What others have to do is looked at again this often: by one request, so that a pod starts soon after. */
export const othersMs = 5000;

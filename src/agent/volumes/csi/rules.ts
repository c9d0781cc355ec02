import { csiDriverKind } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { BoundedMap } from '../../../base/index.ts';
import type { StorageReader } from '../storage.ts';
import type { CsiVolume } from './volume.ts';

/** What the CSIDriver of a driver says. */
export interface DriverRules {
  /** Whether there is a CSIDriver at all. */
  readonly isStated: boolean;
  readonly needsAttachment: boolean;
  readonly wantsPodInfo: boolean;
  readonly lifecycles: readonly string[];
  readonly fsGroupPolicy: string;
  readonly tokens: readonly { readonly audience: string; readonly expirationSeconds: number }[];
  readonly hasTokensInSecrets: boolean;
  readonly isRepublished: boolean;
}

/** Such an object hardly ever changes; each volume that is published again asks for it. */
const keptMs = 30_000;
const maxDrivers = 100;
const defaultTokenSeconds = 3600;

/** Reads what drivers need, and keeps it for a while. */
export class DriverRulesReader {
  readonly #reader: StorageReader;
  readonly #clock: Clock;
  readonly #kept = new BoundedMap<string, { readonly rules: DriverRules; readonly untilMs: number }>({
    maxEntries: maxDrivers,
  });

  constructor(reader: StorageReader, clock: Clock) {
    this.#reader = reader;
    this.#clock = clock;
  }

  /** It is read again: what failed may be allowed by now. */
  forget(driver: string): void {
    this.#kept.delete(driver);
  }

  async read(driver: string, signal: AbortSignal): Promise<DriverRules> {
    const nowMs = this.#clock.monotonicMs();
    const kept = this.#kept.get(driver);
    if (kept !== undefined && kept.untilMs > nowMs) return kept.rules;
    const { spec } = (await this.#reader.find(csiDriverKind, driver, signal)) ?? {};
    const rules = {
      isStated: spec !== undefined,
      needsAttachment: spec?.attachRequired !== false,
      wantsPodInfo: spec?.podInfoOnMount === true,
      lifecycles: spec?.volumeLifecycleModes ?? ['Persistent'],
      fsGroupPolicy: spec?.fsGroupPolicy ?? 'ReadWriteOnceWithFSType',
      tokens: (spec?.tokenRequests ?? []).map(({ audience = '', expirationSeconds }) => ({
        audience,
        expirationSeconds: Number(expirationSeconds ?? defaultTokenSeconds),
      })),
      hasTokensInSecrets: spec?.serviceAccountTokenInSecrets === true,
      isRepublished: spec?.requiresRepublish === true,
    };
    this.#kept.set(driver, { rules, untilMs: nowMs + keptMs });
    return rules;
  }
}

/** Throws an Error for users where the driver does not have volumes of that lifecycle. */
export function checkLifecycle(
  { lifecycle, driver }: CsiVolume,
  { lifecycles, isStated }: DriverRules,
): void {
  if (lifecycles.includes(lifecycle)) return;
  const why = isStated
    ? `only supports [${lifecycles.map((each) => JSON.stringify(each)).join(' ')}]`
    : 'no CSIDriver object';
  throw new Error(
    `kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: volume mode ${JSON.stringify(lifecycle)} not supported by driver ${driver} (${why})`,
  );
}

/** Whether the agent gives the files of the volume to the group of the pod, as the reference decides it. */
export function isGivenToGroup(volume: CsiVolume, { fsGroupPolicy }: DriverRules): boolean {
  if (volume.isReadOnly || volume.isBlock || fsGroupPolicy === 'None') return false;
  if (fsGroupPolicy === 'File') return true;
  if (volume.fsType === '') return false;
  return (
    volume.lifecycle === 'Ephemeral' ||
    volume.accessModes.some((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod')
  );
}

/** The CRI's message SecurityProfile, ready for the runtime's client. */
export interface CriSecurityProfile {
  /** 0 RuntimeDefault, 1 Unconfined, 2 Localhost. */
  readonly profileType: 0 | 1 | 2;
  /** For Localhost the absolute path, or the name of an AppArmor profile; else empty. */
  readonly localhostRef: string;
}

export const runtimeDefault: CriSecurityProfile = { profileType: 0, localhostRef: '' };
export const unconfined: CriSecurityProfile = { profileType: 1, localhostRef: '' };
export const localhost = (localhostRef: string): CriSecurityProfile => ({ profileType: 2, localhostRef });

/** The profile of every pod's sandbox, independent of its containers' profiles, as in the reference. */
export const sandboxSeccomp: CriSecurityProfile = runtimeDefault;

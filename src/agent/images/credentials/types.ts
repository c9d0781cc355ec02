/** What a registry is given. Secret: it is never logged, and stands in no message. */
export interface Credential {
  readonly username: string;
  readonly password: string;
  /** It is not a pod's own: every pod of the node may use what it opens. */
  readonly isOfNode?: true;
}

/** Credentials by the registry or path that they are for, as `config.json` and secrets for pulling have them. */
export type CredentialsByKey = ReadonlyMap<string, readonly Credential[]>;

import type { Pod } from '../../api/index.ts';

/** What is asked for: as in a projected volume, or in the `tokenRequests` of a CSIDriver. */
export interface TokenQuestion {
  /** Empty: that of the API. */
  readonly audience: string;
  /** Seconds; at least 600. */
  readonly expirationSeconds: number;
}

export interface PodToken {
  readonly token: string;
  /** Epoch milliseconds. */
  readonly expiresMs: number;
  /** Epoch milliseconds: when `get` asks for a new one, at 80 % of its life and after 24 h at the latest, spread a little. */
  readonly renewMs: number;
}

/** Tokens of the service accounts of pods, bound to the pod and this node. */
export interface PodTokens {
  /**
   * The token for such a question, asked for once and kept until `renewMs`; then a new one, or the old one until it expires where the
   * API refuses or does not answer. Rejects with an Error whose message may be shown to users.
   */
  get(pod: Pod, question: TokenQuestion, signal: AbortSignal): Promise<PodToken>;
  /** Forgets those of the pod. */
  release(podUid: string): void;
}

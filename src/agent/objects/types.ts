import type { ConfigMap, Pod, Secret } from '../../api/index.ts';
import type { BundleChoice, TrustAnchors } from './trust-anchors.ts';

/** What is known of an object that pods of this node name. */
export type Known<T> =
  /** The API has not answered yet; `message` says what is waited for. */
  | { readonly state: 'waiting'; readonly message: string }
  /** As last received, also while the API does not answer. */
  | { readonly state: 'present'; readonly object: T }
  | { readonly state: 'absent' }
  /** The API refuses to show it, with its own `message`; or this node does not keep so much, and `message` says that. */
  | { readonly state: 'refused'; readonly message: string };

export interface ObjectName {
  readonly kind: 'ConfigMap' | 'Secret' | 'ClusterTrustBundle';
  /** Empty for ClusterTrustBundles. */
  readonly namespace: string;
  /** Of ClusterTrustBundles a signer stands for all that are of it; only the names of signers have a slash. */
  readonly name: string;
}

/**
 * The ConfigMaps, Secrets and ClusterTrustBundles that pods of this node name, each watched alone, as a node may. What is immutable
 * is no longer watched once it is here.
 */
export interface PodObjects {
  /** Follows what the pod names from now on; called again, in place of what an earlier version of the pod named. Never waits. */
  hold(pod: Pod): void;
  /**
   * Follows one more object for a pod that is held, such as a Secret of the storage behind its claim, until the pod is released.
   * Never waits; of a pod that is not held it does nothing. What was refused is asked for again at once.
   */
  follow(podUid: string, name: ObjectName): void;
  /** Objects that no pod names any more are forgotten. */
  release(podUid: string): void;
  /** `waiting` for one that no held pod names. */
  configMap(namespace: string, name: string): Known<ConfigMap>;
  secret(namespace: string, name: string): Known<Secret>;
  /** Absent: the API does not know ClusterTrustBundles. Where it has none of those, there are no certificates. */
  trustAnchors(choice: BundleChoice): Known<TrustAnchors>;
  /** Calls `listener` when what is known of an object has changed, with the uids of the pods that name it. */
  onChange(listener: (name: ObjectName, podUids: ReadonlySet<string>) => void): Disposable;
}

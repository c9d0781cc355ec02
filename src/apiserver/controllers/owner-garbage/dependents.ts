/** This server's uids have 36 characters; a much longer one belongs to no object. */
const maxUidLength = 64;

const none: ReadonlySet<string> = new Set();

/** The objects that name an owner: their keys by the owner's uid. Nothing else of them is kept. */
export class Dependents {
  readonly #byOwner = new Map<string, Set<string>>();
  readonly #owners = new Map<string, readonly string[]>();

  /** Sets the owners that the object at a key names now; none: forgets the object. */
  set(key: string, ownerUids: readonly string[]): void {
    for (const uid of this.#owners.get(key) ?? []) this.#remove(uid, key);
    const uids = ownerUids.filter((uid) => uid.length <= maxUidLength);
    if (uids.length === 0) {
      this.#owners.delete(key);
      return;
    }
    this.#owners.set(key, uids);
    for (const uid of uids) {
      const keys = this.#byOwner.get(uid) ?? new Set();
      this.#byOwner.set(uid, keys.add(key));
    }
  }

  /** The keys of the objects that name an owner. The set is live: it changes when they do. */
  of(ownerUid: string): ReadonlySet<string> {
    return this.#byOwner.get(ownerUid) ?? none;
  }

  #remove(uid: string, key: string): void {
    const keys = this.#byOwner.get(uid);
    keys?.delete(key);
    if (keys?.size === 0) this.#byOwner.delete(uid);
  }
}

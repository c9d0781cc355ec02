/** A uid that this server gave is 36 characters long; what is far longer is nobody's. */
const maxUidLength = 64;

const nobody: ReadonlySet<string> = new Set();

/** Which objects name an owner: their keys by the owner's uid. Nothing else of them is kept. */
export class Dependents {
  readonly #byOwner = new Map<string, Set<string>>();
  readonly #owners = new Map<string, readonly string[]>();

  /** Notes the owners that the object at a key names now; none: forgets the object. */
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

  /** The keys of the objects that name an owner; it changes when they do. */
  of(ownerUid: string): ReadonlySet<string> {
    return this.#byOwner.get(ownerUid) ?? nobody;
  }

  #remove(uid: string, key: string): void {
    const keys = this.#byOwner.get(uid);
    keys?.delete(key);
    if (keys?.size === 0) this.#byOwner.delete(uid);
  }
}

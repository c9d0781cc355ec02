/** Which checkpoints are being read, by how many. */
export interface Uses {
  /** Nothing removes it by itself until this is disposed of. */
  hold(id: string): Disposable;
  isHeld(id: string): boolean;
}

export function createUses(): Uses {
  const held = new Map<string, number>();
  const add = (id: string, change: number) => {
    const count = (held.get(id) ?? 0) + change;
    if (count > 0) held.set(id, count);
    else held.delete(id);
  };
  return {
    hold(id) {
      let over = false;
      add(id, 1);
      return {
        [Symbol.dispose]() {
          if (!over) add(id, -1);
          over = true;
        },
      };
    },
    isHeld: (id) => held.has(id),
  };
}

import type { CsiDriver, CsiDrivers } from './types.ts';
import { compareVersions } from './versions.ts';

/** The drivers by the sockets of their registration; of one name the one with the highest version is in use. */
export interface DriverTable extends CsiDrivers {
  /** In use or not. */
  at(socket: string): CsiDriver | undefined;
  put(driver: CsiDriver): void;
  remove(socket: string): void;
}

export function createDriverTable(): DriverTable {
  const bySocket = new Map<string, CsiDriver>();
  const listeners = new Set<() => void>();
  let inUse: ReadonlyMap<string, CsiDriver> = new Map();

  function changed(): void {
    const next = new Map<string, CsiDriver>();
    for (const driver of bySocket.values()) {
      const other = next.get(driver.name);
      if (other === undefined || compareVersions(other.version, driver.version) < 0)
        next.set(driver.name, driver);
    }
    inUse = new Map([...next].sort(([one], [other]) => (one < other ? -1 : 1)));
    for (const listener of [...listeners]) listener();
  }

  return {
    at: (socket) => bySocket.get(socket),
    put(driver) {
      bySocket.set(driver.socket, driver);
      changed();
    },
    remove(socket) {
      if (bySocket.delete(socket)) changed();
    },
    driver: (name) => inUse.get(name),
    drivers: () => [...inUse.values()],
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

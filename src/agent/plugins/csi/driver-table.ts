import type { CsiDriver, CsiDrivers } from './types.ts';
import { compareVersions } from './versions.ts';

/** The drivers by their registration sockets; of several with one name the one with the highest version is in use. */
export class DriverTable implements CsiDrivers {
  readonly #bySocket = new Map<string, CsiDriver>();
  readonly #listeners = new Set<() => void>();
  #inUse: ReadonlyMap<string, CsiDriver> = new Map();

  /** The driver of a socket, in use or not. */
  at(socket: string): CsiDriver | undefined {
    return this.#bySocket.get(socket);
  }

  put(driver: CsiDriver): void {
    this.#bySocket.set(driver.socket, driver);
    this.#update();
  }

  remove(socket: string): void {
    if (this.#bySocket.delete(socket)) this.#update();
  }

  driver(name: string): CsiDriver | undefined {
    return this.#inUse.get(name);
  }

  drivers(): readonly CsiDriver[] {
    return [...this.#inUse.values()];
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  #update(): void {
    const next = new Map<string, CsiDriver>();
    for (const driver of this.#bySocket.values()) {
      const other = next.get(driver.name);
      if (other === undefined || compareVersions(other.version, driver.version) < 0)
        next.set(driver.name, driver);
    }
    this.#inUse = new Map([...next].sort(([one], [other]) => (one < other ? -1 : 1)));
    for (const listener of [...this.#listeners]) listener();
  }
}

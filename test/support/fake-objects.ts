import type {
  BundleChoice,
  Known,
  ObjectName,
  PodObjects,
  TrustAnchors,
} from '../../src/agent/objects/index.ts';
import type { PodToken, PodTokens, TokenQuestion } from '../../src/agent/tokens/index.ts';
import type { ConfigMap, Pod, Secret } from '../../src/api/index.ts';

type Listener = (name: ObjectName, podUids: ReadonlySet<string>) => void;

/** Objects that the test sets; all of them are of the namespace `default`. Those that were not set are absent. */
export class FakeObjects implements PodObjects {
  /** The pods that hear of each change. */
  readonly podUids: Set<string>;
  readonly #configMaps = new Map<string, Known<ConfigMap>>();
  readonly #secrets = new Map<string, Known<Secret>>();
  /** By the name of the bundle or of its signer. */
  readonly #anchors = new Map<string, Known<TrustAnchors>>();
  readonly #listeners = new Set<Listener>();
  #version = 0;

  constructor(podUids: Iterable<string> = ['u1']) {
    this.podUids = new Set(podUids);
  }

  hold(): void {
    // everything is known
  }

  follow(): void {
    // everything is known
  }

  release(): void {
    // nothing is kept
  }

  configMap(_namespace: string, name: string): Known<ConfigMap> {
    return this.#configMaps.get(name) ?? { state: 'absent' };
  }

  secret(_namespace: string, name: string): Known<Secret> {
    return this.#secrets.get(name) ?? { state: 'absent' };
  }

  trustAnchors(choice: BundleChoice): Known<TrustAnchors> {
    const name = 'name' in choice ? choice.name : choice.signerName;
    const none = { bundles: [], count: 0, pem: Buffer.alloc(0) };
    return this.#anchors.get(name) ?? { state: 'present', object: none };
  }

  onChange(listener: Listener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Each has the next version, from 1 on. */
  setConfigMap(name: string, data: Record<string, string>, binary: Record<string, Buffer> = {}): void {
    const binaryData = encoded(binary);
    this.putConfigMap(name, {
      state: 'present',
      object: { metadata: this.#metadata(name), data, binaryData },
    });
  }

  putConfigMap(name: string, known: Known<ConfigMap>): void {
    this.#configMaps.set(name, known);
    this.#announce({ kind: 'ConfigMap', namespace: 'default', name });
  }

  setSecret(name: string, texts: Record<string, string>): void {
    const data = encoded(
      Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text)])),
    );
    this.putSecret(name, { state: 'present', object: { metadata: this.#metadata(name), data } });
  }

  putSecret(name: string, known: Known<Secret>): void {
    this.#secrets.set(name, known);
    this.#announce({ kind: 'Secret', namespace: 'default', name });
  }

  /** A bundle, or one of the signer, with so many certificates. */
  setAnchors(name: string, text: string, count = 1): void {
    const { resourceVersion: version } = this.#metadata(name);
    const object = { bundles: [{ name, version }], count, pem: Buffer.from(text) };
    this.putAnchors(name, { state: 'present', object });
  }

  putAnchors(name: string, known: Known<TrustAnchors>): void {
    this.#anchors.set(name, known);
    this.#announce({ kind: 'ClusterTrustBundle', namespace: '', name });
  }

  #metadata(name: string) {
    this.#version += 1;
    return { name, namespace: 'default', resourceVersion: String(this.#version) };
  }

  #announce(name: ObjectName): void {
    for (const listener of [...this.#listeners]) listener(name, this.podUids);
  }
}

/** Tokens that say what was asked for and how often; `renewMs` and the failure are the test's. */
export class FakeTokens implements PodTokens {
  readonly asked: TokenQuestion[] = [];
  renewMs = Number.MAX_SAFE_INTEGER;
  failure: Error | undefined;

  async get(pod: Pod, question: TokenQuestion): Promise<PodToken> {
    this.asked.push(question);
    if (this.failure !== undefined) throw this.failure;
    const token = `token ${this.asked.length} of ${pod.metadata?.name} for ${question.audience}`;
    return { token, expiresMs: this.renewMs, renewMs: this.renewMs };
  }

  release(): void {
    this.asked.length = 0;
  }
}

function encoded(data: Readonly<Record<string, Buffer>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, bytes]) => [key, bytes.toString('base64')]));
}

import assert from 'node:assert/strict';

/** Shorter ones stand in other words by chance. */
const shortest = 8;

/** What nobody may be told, and all that was told to somebody who may not know it. */
export class Secrets {
  readonly #secrets = new Map<string, string>();
  readonly #told: { where: string; text: string }[] = [];

  /** `what` names it in failures, which never show the secret itself. In base64 it is as much a secret. */
  keep(what: string, secret: string): string {
    assert.ok(secret.length >= shortest, `${what} is too short to be looked for`);
    this.#secrets.set(secret, what);
    this.#secrets.set(Buffer.from(secret).toString('base64').replace(/=+$/, ''), `${what} in base64`);
    return secret;
  }

  /** A token, and its signature, without which the rest of it is of no use. */
  keepToken(what: string, token: string): string {
    const [, , signature = ''] = token.split('.');
    if (signature.length >= shortest) this.keep(`the signature of ${what}`, signature);
    return this.keep(what, token);
  }

  /** PEM of a private key: any line of it. */
  keepKey(what: string, pem: string): void {
    for (const line of pem.split('\n'))
      if (line.length > 32 && !line.startsWith('-----')) this.keep(what, line);
  }

  tell(where: string, text: string): void {
    this.#told.push({ where, text });
  }

  /** Fails with all that was found, and where. */
  assertNoneTold(): void {
    assert.ok(
      this.#secrets.size > 0 && this.#told.length > 0,
      'there is something to look for, and to look at',
    );
    const found = this.#told.flatMap(({ where, text }) =>
      [...this.#secrets].filter(([secret]) => text.includes(secret)).map(([, what]) => `${what} in ${where}`),
    );
    assert.deepEqual([...new Set(found)], []);
  }
}

import type { Credential } from './types.ts';

const userInUrl = /(https?:\/\/)[^\s"/@]+@/g;
/** Registries forward to stores by addresses that are signed: who has such an address has the image. */
const secretParameter = /([?&][^=&\s"]*(?:sig|token|credential|password|secret|key)[^=&\s"]*=)[^&\s"]+/gi;
/** Shorter ones are common in texts, and taking them out would tell where they stood. */
const minLength = 4;

/** A message of a runtime or registry, without what opens a registry. */
export function withoutSecrets(message: string, credential: Credential | undefined): string {
  const readable = message.replace(userInUrl, '$1').replace(secretParameter, '$1…');
  if (credential === undefined) return readable;
  const { username, password } = credential;
  const encoded = Buffer.from(`${username}:${password}`).toString('base64');
  return [encoded, password, encodeURIComponent(password)]
    .filter((secret) => secret.length >= minLength)
    .reduce((text, secret) => text.replaceAll(secret, '…'), readable);
}

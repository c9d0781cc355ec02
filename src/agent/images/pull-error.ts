/** Runtimes begin a message with one of these words to say more than "it failed"; they become the reason. */
const prefixes = [
  { prefix: 'RegistryUnavailable', why: 'the registry is unavailable' },
  { prefix: 'SignatureValidationFailed', why: 'the signature validation failed' },
] as const;

/** The reason and message of a failed pull, as the status of the container says them. */
export function classifyPullError(image: string, message: string): { reason: string; message: string } {
  const found = prefixes.find(({ prefix }) => message.startsWith(prefix));
  if (found === undefined) return { reason: 'ErrImagePull', message };
  const { prefix, why } = found;
  const more = message.slice(prefix.length);
  return { reason: prefix, message: `image pull failed for ${image} because ${why}${more}` };
}

/** FNV-1a of 32 bits, in hexadecimal digits without leading zeros. */
export function fnv1a(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16);
}

/**
 * What a container is restarted for when it changes, its name and image, as the reference writes it: the hash of the text in
 * which it renders the bytes of their JSON.
 */
export function containerHash({ image = '', name = '' }: { image?: string; name?: string }): string {
  const json = JSON.stringify({ image, name }).replace(/[<>&\u2028\u2029]/g, escapeCharacter);
  return fnv1a(`([]uint8)[${[...Buffer.from(json)].join(' ')}]`);
}

/** As the reference's JSON has it. */
function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

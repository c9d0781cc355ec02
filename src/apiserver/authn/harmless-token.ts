const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Whether a token (RFC 7519, in compact form) may be parsed: it must hold no backslash, for anybody can send one, its
 * JSON is parsed before its signature is looked at, and a key with a backslash would garble later bodies (see parseJson).
 */
export function isHarmlessToken(token: string): boolean {
  if (!compactForm.test(token)) return false;
  const [header = '', payload = ''] = token.split('.');
  return [header, payload].every((part) => !Buffer.from(part, 'base64url').includes('\\'));
}

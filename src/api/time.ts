/** Formats a time as the API does: RFC 3339 in whole seconds, fractions cut off. `ms` since 1970. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -'.000Z'.length)}Z`;
}

/** Formats a MicroTime as the API does: RFC 3339 with six digits of a second. `ms` since 1970. */
export function formatMicroTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

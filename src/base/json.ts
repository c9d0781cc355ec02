/** Whether a value of JSON is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The value that a text is in JSON; undefined when it is no JSON. Depth and double keys are not looked at: for the bodies
 * of requests there is `parseJson` of api/json.
 */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The JSON object that a text is; undefined for everything else. */
export function tryParseRecord(text: string): Record<string, unknown> | undefined {
  const value = tryParseJson(text);
  return isRecord(value) ? value : undefined;
}

/** Decodes percent encoding; returns the text as it is if it is malformed. */
export function decodePercentEncoding(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Formats a CSV field (RFC 4180). A text that a spreadsheet would run as a formula gets a leading `'`. */
export function formatCsvField(text: string): string {
  const harmless = /^(?:\s*[=+\-@\uff0b\uff0d\uff1d\uff20]|[\t\r\n])/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** The largest part of a prompt that holds metadata, in UTF-16 units. */
export const DATA_UNITS_MAX = 48_000;

/**
 * Formats metadata as JSON between two marks that the data cannot contain: `<`, `>`, `&`, the backtick and everything
 * outside of ASCII are escaped. Instructions tell the model that nothing between the marks is an instruction.
 */
export function formatUntrusted(label: string, value: unknown): string {
  const json = JSON.stringify(value, null, 1).replace(
    /[<>&`\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const bounded =
    json.length <= DATA_UNITS_MAX ? json : `${json.slice(0, DATA_UNITS_MAX)}\n[cut: too many entries]`;
  return `<untrusted-data name="${label}">\n${bounded}\n</untrusted-data>`;
}

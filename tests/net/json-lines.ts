/** A part that is longer than this as JSON is written once; the places that repeat it name the first. */
const REPEATED_CHARACTERS_MIN = 120;
const WIDTH = 110;

/**
 * Returns a JSON value for reading and comparing: members sorted, short parts on one line, and a long part that is there
 * again as `{"same": PLACE}`.
 */
export function formatJsonLines(value: unknown): string {
  return `${print(replaceRepeated(sortMembers(value), '', new Map()), 0)}\n`;
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, each]) => [name, sortMembers(each)]));
}

function replaceRepeated(value: unknown, place: string, seen: Map<string, string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const text = JSON.stringify(value);
  if (text.length >= REPEATED_CHARACTERS_MIN) {
    const first = seen.get(text);
    if (first !== undefined) return { same: first };
    seen.set(text, place);
  }
  if (Array.isArray(value)) return value.map((each, at) => replaceRepeated(each, `${place}[${at}]`, seen));
  const members = Object.entries(value).map(([name, each]) => [
    name,
    replaceRepeated(each, place === '' ? name : `${place}.${name}`, seen),
  ]);
  return Object.fromEntries(members);
}

function print(value: unknown, depth: number): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || line.length + depth <= WIDTH) return line;
  const indent = ' '.repeat(depth + 1);
  const parts = Array.isArray(value)
    ? value.map((each) => `${indent}${print(each, depth + 1)}`)
    : Object.entries(value).map(
        ([name, each]) => `${indent}${JSON.stringify(name)}: ${print(each, depth + 1)}`,
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.join(',\n')}\n${' '.repeat(depth)}${close}`;
}

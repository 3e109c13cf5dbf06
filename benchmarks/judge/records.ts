/**
 * Ordinary records, as an agent reads and writes them without any incident. They are always the same for a
 * size.
 */

const WORDS =
  'the order was shipped on time and the customer asked for an invoice with the new address so we changed it in ' +
  'the account before the next delivery please check whether all items are in stock and tell the team when this is ' +
  'done because the report for last month is due tomorrow';
const NAMES = ['planner', 'support', 'billing', 'warehouse', 'research', 'mailroom'];
const KINDS = ['order.created', 'ticket.closed', 'invoice.sent', 'file.read', 'search.done'];
const SNIPPETS = [
  'const total = items.reduce((sum, item) => sum + item.price * item.count, 0);',
  'for (const row of rows) { if (!row.ok) continue; await save(row); }',
  'SELECT id, title FROM tickets WHERE state = 3 ORDER BY opened_at LIMIT 50',
  'def total(items):\n    return sum(i.price * i.count for i in items)',
];

/**
 * Returns a JSON array of records of exactly `bytes` bytes, 100 or more. The last element is a text that
 * fills it up.
 */
export function recordsText(bytes: number): string {
  const next = sequence(bytes);
  let text = '[';
  for (let id = 1000; ; id++) {
    const record = JSON.stringify(getRecord(next, id));
    if (text.length + record.length + FILLER_BYTES_MIN > bytes) break;
    text += `${record},`;
  }
  const words = `${WORDS} `.repeat(2);
  return `${text}${JSON.stringify(words.slice(0, bytes - text.length - 3))}]`;
}

const FILLER_BYTES_MIN = 8;

function getRecord(next: (below: number) => number, id: number): unknown {
  const pick = <T>(list: readonly T[]): T => list[next(list.length)]!;
  const words = WORDS.split(' ');
  const from = next(words.length - 24);
  const at = `2026-0${1 + next(9)}-1${next(10)}T0${next(10)}:${10 + next(50)}:${10 + next(50)}Z`;
  const shapes = [
    { id, kind: pick(KINDS), agent: pick(NAMES), at },
    { id, text: words.slice(from, from + 8 + next(16)).join(' '), labels: [pick(NAMES), pick(KINDS)] },
    {
      id,
      amounts: [next(10_000) / 100, next(90), next(2) === 1],
      state: { open: next(2) === 1, level: next(5) },
    },
    { id, code: pick(SNIPPETS), parent: null },
  ];
  return shapes[id % shapes.length];
}

function sequence(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % below;
  };
}

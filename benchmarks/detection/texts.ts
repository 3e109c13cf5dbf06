/**
 * The texts of the speed benchmark, the same in every run: ordinary records from `records.jsonl`, a mix of
 * agents' content (prose, code, logs, markup, JSON with escapes), the same mix with letters beyond Latin-1,
 * and the mix with a finding in every 2 KB.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const RECORDS = readFileSync(join(import.meta.dirname, 'records.jsonl'), 'utf8')
  .trimEnd()
  .split('\n');

/**
 * Returns a JSON array of records of exactly `bytes` bytes, 200 or more. Its last element is a text that
 * fills it up. Another `seed` begins at another record.
 */
export function recordsText(bytes: number, seed: number): string {
  let text = '[';
  for (let at = seed * RECORDS_APART; ; at++) {
    const record = RECORDS[at % RECORDS.length]!;
    if (text.length + record.length + SHORTEST_END > bytes) break;
    text += `${record},`;
  }
  const words = 'the report of last month was read and filed '.repeat(60);
  return `${text}${JSON.stringify(words.slice(0, bytes - text.length - SHORTEST_END))}]`;
}

/** The distance between the first records of two texts with consecutive seeds. */
const RECORDS_APART = 29;
/** The length of the quotes and the bracket of the last element. */
const SHORTEST_END = 3;

const PIECES: readonly string[] = [
  'Please look at the failing test in the parser and tell me whether the fix of last week could have caused it. The second run passed, so it may depend on the order.\n',
  'We moved the meeting to Thursday, because half of the team is on the road. Bring the figures of the third quarter and the list of open questions; the rest can wait until the room is free again.\n',
  'export function total(items: readonly Item[]): number {\n  return items.reduce((sum, { price, count }) => sum + price * count, 0);\n}\n',
  'def read_rows(path):\n    with open(path, encoding="utf-8") as file:\n        for number, line in enumerate(file, start=1):\n            yield number, line.rstrip("\\n").split("\\t")\n',
  '2026-03-14T09:26:53.589Z INFO  worker[2] request done method=GET path=/v1/items/4711 status=200 took_ms=12\n2026-03-14T09:26:54.012Z WARN  worker[1] queue is long length=204 limit=500\n',
  '{"event":"build","step":"compile","lines":["src/a.ts\\t12\\tok","src/b.ts\\t40\\tok"],"note":"took \\"only\\" 3 s\\nno warning"}\n',
  '## Installing\n\nRun `npm ci` in the folder of the project, then `npm test`. The page on [settings](https://example.org/docs/settings?lang=en&page=2#limits) says what each key does.\n\n- `size`: rows on a page, 1 to 500\n- `order`: `asc` or `desc`\n',
  "SELECT o.id, o.title, count(*) AS lines FROM orders o JOIN lines l ON l.order_id = o.id WHERE o.state IN ('open', 'late') GROUP BY 1, 2 ORDER BY lines DESC LIMIT 20;\n",
  'diff --git a/src/queue.ts b/src/queue.ts\nindex 83db48f..bf2a9c1 100644\n@@ -14,7 +14,9 @@ export function take(queue: Queue) {\n-  return queue.items.shift();\n+  const first = queue.items.shift();\n+  if (first === undefined) throw new Error("empty");\n+  return first;\n',
  '<table class="list"><tr><th>Name</th><th>Size &amp; weight</th></tr><tr><td>Chair &#8212; oak</td><td>4,5&nbsp;kg</td></tr></table>\n',
  'services:\n  web:\n    image: registry.example.org/web:1.14.2\n    ports: ["8080:80"]\n    environment:\n      LOG_LEVEL: info\n      CACHE_SIZE: 512\n    depends_on: [store]\n',
  'GET /search?q=blue%20chair%2Foak&sort=price&page=3 HTTP/1.1\nHost: shop.example.org\nAccept: text/html,application/json;q=0.9\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\n\n',
  'The garden of the library is open again. Volunteers have planted four rows of herbs beside the path, and the old bench was painted green; whoever has time on Saturday is welcome to help with the fence.\n',
  'PASS src/parser/parser.test.ts (4.213 s)\n  parser\n    ok reads an empty file (3 ms)\n    ok keeps the order of keys (1 ms)\nTests: 41 passed, 41 total\nTime: 4.9 s\n',
  'commit 3f786850e387550fdab836ed7e6dc881de23001b\nAuthor: A Person\nDate:   Tue Mar 3 10:12:44 2026 +0100\n\n    Keep the order of keys when a row is written\n',
  'fn main() {\n    let args: Vec<String> = std::env::args().collect();\n    match args.get(1) {\n        Some(path) => run(path),\n        None => eprintln!("usage: count FILE"),\n    }\n}\n',
  '| Quarter | Sold | Returned |\n|---|---:|---:|\n| 1 | 12,410 | 312 |\n| 2 | 13,022 | 297 |\n| 3 | 11,870 | 344 |\n',
  'Summary of the call: the customer likes the new form, misses the export to CSV, and asks when the mobile page is faster. Next step: we send two dates. Nothing was promised about the price.\n',
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==\n',
  'package main\n\nimport (\n\t"fmt"\n\t"strings"\n)\n\nfunc main() {\n\tfor i, word := range strings.Fields("one two three") {\n\t\tfmt.Println(i, word)\n\t}\n}\n',
];

/** Letters, quotes and signs that make a string two bytes wide in memory. */
const WIDE_PIECES: readonly string[] = [
  '“Das Fenster klemmt”, schrieb die Kundin – und legte ein Foto bei. Wir tauschen es am Montag aus… 👍\n',
  'Заказ отправлен вчера вечером, курьер будет завтра до обеда. Спасибо за терпение!\n',
  '会议改到星期四下午,请带上第三季度的报告。谢谢大家的配合。\n',
  'Le café de la gare rouvre à huit heures ; la salle du fond reste fermée jusqu’à l’été.\n',
];

/** The findings of a dirty text, concatenated from pieces so that code hosts accept this file. */
const FINDINGS: readonly string[] = [
  `the key is ${'sk-'}${'ABCDEF1234567890'} for now`,
  `write to ${'jane.miller'}@${'mailbox.org'} about it`,
  `card ${['4111', '1111', '1111', '1111'].join(' ')} was used`,
  `her SSN is ${['536', '22', '8726'].join('-')} on the form`,
  `export AWS_ACCESS_KEY_ID=${'AK'}${'IA'}${'Z7QX5LWM2RTY4VBN'}`,
];

/** The bytes of a dirty text per finding. */
export const FINDING_EVERY_BYTES = 2048;

/** Returns mixed text of exactly `units` ASCII characters: pieces in a fixed order without a pattern. */
export function mixedText(units: number, seed: number): string {
  return mix(units, PIECES, seed);
}

/**
 * Returns mixed text with every fourth piece in another script or with typographic signs; `units` are UTF-16.
 */
export function wideText(units: number, seed: number): string {
  return mix(units, [...PIECES, ...WIDE_PIECES, ...WIDE_PIECES], seed);
}

/** Returns mixed text of the same length with a finding in every 2,048 bytes. */
export function dirtyText(units: number, seed: number): string {
  let text = '';
  for (let at = 0; text.length + FINDING_EVERY_BYTES <= units; at++) {
    const finding = ` ${FINDINGS[at % FINDINGS.length]} \n`;
    text += mix(FINDING_EVERY_BYTES - finding.length, PIECES, seed * 1000 + at) + finding;
  }
  return text + mix(units - text.length, PIECES, seed);
}

function mix(units: number, pieces: readonly string[], seed: number): string {
  let state = (units + seed * 7919) >>> 0;
  let text = '';
  while (text.length < units) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += pieces[(state >>> 8) % pieces.length];
  }
  // A cut must not split a surrogate pair, and a cut finding must not look like a whole one.
  return text.slice(0, units).replace(/[\ud800-\udbff]$/, ' ');
}

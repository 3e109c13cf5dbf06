/** `npm run net`: writes down what the program answers today, into `tests/net/data`. Names of files limit it to those. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { collectAccess, openAccessWorld } from './access-world.ts';
import { describeJournals, describeMetrics, describeReplies, runCasesOverHttp } from './cases-over-http.ts';
import { type FactFile, factFiles } from './facts.ts';
import { compareWithData, getDataPath } from './lines.ts';

const wanted = process.argv.slice(2);
let run: ReturnType<typeof runCasesOverHttp> | null = null;
const runOnce = () => {
  run ??= runCasesOverHttp();
  return run;
};
const all: readonly FactFile[] = [
  ...factFiles,
  { name: 'access.txt', collect: writeAccess },
  { name: 'journal.txt', collect: async () => describeJournals(await runOnce()) },
  { name: 'metrics.txt', collect: async () => describeMetrics(await runOnce()) },
  { name: 'replies.txt', collect: async () => describeReplies(await runOnce()) },
];

for (const { name, collect, explainMissing } of all) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const reason = explainMissing?.() ?? null;
  if (reason !== null) {
    console.log(`${name}: not written. ${reason}`);
    process.exitCode = 1;
    continue;
  }
  const text = await collect();
  const changes = compareWithData(name, text);
  console.log(changes.length === 0 ? `${name}: unchanged` : changes.join('\n'));
  mkdirSync(dirname(getDataPath(name)), { recursive: true });
  writeFileSync(getDataPath(name), text);
}

async function writeAccess(): Promise<string> {
  const world = await openAccessWorld();
  try {
    return await collectAccess(world);
  } finally {
    await world.close();
  }
}

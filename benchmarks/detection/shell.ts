/**
 * Compares our reader of shell scripts with tree-sitter's grammar of bash over the scripts of this machine.
 * `node benchmarks/detection/shell.ts [--differences]`
 */
import { loadOracle, machineScripts } from '../../tests/support/oracle.ts';

const oracle = await loadOracle();
const scripts = machineScripts(Number.POSITIVE_INFINITY);
const kinds = { missing: 0, extra: 0, name: 0, arguments: 0 };
let commands = 0;
let unread = 0;
for (const { file, text } of scripts) {
  const compared = oracle(text);
  unread += compared === null ? 1 : 0;
  commands += compared?.commands ?? 0;
  for (const { kind, at, theirs, ours } of compared?.differences ?? []) {
    kinds[kind] += 1;
    if (!process.argv.includes('--differences')) continue;
    const line = text.slice(0, at).split('\n').length;
    console.log(`${kind} ${file}:${line}\n  grammar ${theirs}\n  ours    ${ours}`);
  }
}
console.log(`${scripts.length} scripts, of which the grammar cannot read ${unread}; ${commands} commands`);
for (const [kind, count] of Object.entries(kinds))
  console.log(`  ${kind}: ${count} (${((100 * count) / commands).toFixed(2)} %)`);

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { policyPacks } from '../../core/policy/templates/index.ts';
import { runInProcess } from './testing/run.ts';

const SKILLS = readdirSync(new URL('../../../skills', import.meta.url)).sort();
const TEMPLATES = policyPacks.map(({ name }) => name);
const root = mkdtempSync(join(tmpdir(), 'packs-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** One in so many pairs of skills is tried, and each in the nightly round. */
const PAIRS_STEP = process.env.NIGHTLY === undefined ? 12 : 1;

let folders = 0;

async function runSuccessfully(cwd: string, ...words: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await runInProcess(words, { cwd });
  assert.equal(code, 0, `${words.join(' ')}: ${stdout}${stderr}`);
}

/** Creates a folder with `init` and a command, or from a copy of an earlier folder. */
async function makeProject(from: string | null, ...command: readonly string[]): Promise<string> {
  folders += 1;
  const folder = join(root, String(folders));
  if (from !== null) cpSync(from, folder, { recursive: true });
  else cpSync(mkdtempSync(join(root, 'empty-')), folder, { recursive: true });
  await runSuccessfully(folder, ...command);
  return folder;
}

/** Returns the faults that `policy lint` and `policy test` report. */
async function findFaults(folder: string, says: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const command of ['lint', 'test']) {
    const { code, stdout, stderr } = await runInProcess(['policy', command], { cwd: folder });
    const lines = stdout.split('\n').filter((line) => /^\s*(?:fail|warning|error) /i.test(line));
    if (code !== 0 || lines.length > 0)
      faults.push(`${says}: ${command} ${code}: ${lines.join('; ')} ${stderr}`);
  }
  return faults;
}

const INITS = [
  ['init', '--non-interactive'],
  ['init', '--non-interactive', '--full'],
] as const;

test('what is shipped agrees with itself: after each `init`, with each pack, and with each pair of packs', async () => {
  const faults: string[] = [];
  let count = 0;
  let pairs = 0;
  const look = async (folder: string, says: string) => {
    count += 1;
    faults.push(...(await findFaults(folder, says)));
  };
  for (const init of INITS) {
    const bare = await makeProject(null, ...init);
    await look(bare, init.join(' '));
    for (const name of TEMPLATES) {
      const folder = await makeProject(bare, 'templates', 'install', name, '--yes', '--allow-less-strict');
      await look(folder, `${init.at(-1)} template ${name}`);
    }
    const withOne = new Map<string, string>();
    for (const name of SKILLS) {
      const folder = await makeProject(bare, 'skills', 'add', name, '--yes', '--allow-less-strict');
      withOne.set(name, folder);
      await look(folder, `${init.at(-1)} ${name}`);
    }
    if (init.length > 2) continue;
    for (const [at, first] of SKILLS.entries()) {
      for (const second of SKILLS.slice(at + 1)) {
        pairs += 1;
        if (pairs % PAIRS_STEP !== 0) continue;
        const folder = await makeProject(
          withOne.get(first)!,
          'skills',
          'add',
          second,
          '--yes',
          '--allow-less-strict',
        );
        await look(folder, `${first} and ${second}`);
        rmSync(folder, { recursive: true, force: true });
      }
    }
  }
  assert.deepEqual(faults, []);
  assert.deepEqual([SKILLS.length, TEMPLATES.length, pairs], [10, 5, 45]);
  assert.equal(count, 2 * (1 + 5 + 10) + Math.floor(45 / PAIRS_STEP));
});

/** Typical mistakes at the command line: the message names what is wrong and the next step. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess, withFolder } from './testing/run.ts';

const MISTAKES: readonly (readonly [line: string, ...said: readonly RegExp[]])[] = [
  ['stauts', /unknown command 'stauts'\n\(Did you mean status\?\)/],
  ['start', /unknown command 'start'\n\(Did you mean serve\?\)/],
  ['health', /\(Did you mean status\?\)/],
  ['lint', /\(Did you mean policy lint\?\)/],
  ['install', /\(Did you mean setup\?\)/],
  ['polices lint', /\(Did you mean policy\?\)/],
  ['serve --prot 9', /unknown option '--prot'\n\(Did you mean --port\?\)\nSee `customshouse serve --help`/],
  ['serve --port abc', /argument 'abc' is invalid\. Give a whole number from 0 to 65535/],
  ['serve --config nope.yaml', /`nope\.yaml` does not exist/],
  ['validate nope.yaml', /`nope\.yaml` does not exist/],
  ['scan', /Standard input is empty.*\nGive the text as an argument, with --file, or on standard input/],
  ['scan --file nope.txt', /`nope\.txt` is not there/],
  ['check --command ls', /required option '--tool <name>'.*\nSee `customshouse check --help`/],
  ['allow', /Name a detector or an event\.\n`customshouse logs --decision block` lists/],
  ['allow git.push_forced --reason x --yes', /did you mean `git\.push_force`\?/],
  ['allow evt_123 --reason x --yes', /no such event.*`customshouse logs` lists events/],
  ['allow git.push_force --yes', /Give the reason with --reason/],
  ['allow git.push_force --until tomorrow --reason x --yes', /a duration such as `30d`, or a date/],
  ['approvals approve apr_1', /`customshouse approvals list --status all` lists the requests/],
  ['approvals aprove apr_1', /\(Did you mean approve\?\)/],
  ['logs --last 7days', /`last` is a duration.*`7d`\.\n$/],
  ['logs --decision deny', /Allowed choices are allow, block, modify/],
  ['policy test', /There are no cases to run\.\n.*policies\/tests/],
  ['policy reload', /No service runs.*\nStart one with `customshouse serve`, or name its configuration/],
  ['policy rollback three', /'three' is invalid for argument 'version'\. Give a whole number/],
  ['audit verify nope.tar.gz', /nope\.tar\.gz` is not there/],
  ['audit export --format xml', /Allowed choices are jsonl, csv/],
  ['keys revoke key_1', /No service runs.*\nStart one with/],
  ['users add ann --role root', /^error: `role\[0\]` must be one of viewer, auditor[^\n]*\n$/],
  ['tenants versions nope', /no tenant.*`customshouse tenants list` lists/],
  ['skills add pci', /did you mean `pci-dss`\? `customshouse skills search` lists/],
  ['templates show lethal', /There are `coding-agent`, `finance`/],
  ['setup cluade-code', /did you mean `claude-code`\?/],
  ['setup vercel', /did you mean `vercel-ai`\?/],
  ['mcp --wrap', /needs the command of the MCP server after `--`\.\nFor example/],
  ['detectors show git.push', /did you mean `git\.push_force`\?\n`customshouse detectors list`/],
  ['cost summary --last x', /Write `last_30d`, `7d`, or two dates/],
  ['compliance report --framework sox', /`framework` is one of hipaa, pci-dss/],
  ['replay --transcript', /\(Did you mean --transcripts\?\)/],
  ['wrong', /Name an event, or give --last\.\n`customshouse logs --decision block` lists/],
  ['hook --dialect claude', /Allowed choices are claude-code, codex/],
  ['plugins check nope.mjs', /no file and no installed package `nope\.mjs`/],
  ['sessions reset', /Name a session, or an agent with --agent/],
];

test('typical mistakes are named with the next step', async () => {
  await withFolder(async (cwd) => {
    await writeFile(join(cwd, 'service.yaml'), 'server: {port: 0}\n');
    for (const [line, ...said] of MISTAKES) {
      const { code, stdout, stderr } = await runInProcess(line.split(' '), { cwd, env: { HOME: cwd } });
      assert.ok(code === 1 || code === 2, `${line}: ${code}`);
      for (const pattern of said) assert.match(`${stdout}${stderr}`, pattern, line);
    }
    // Negative control: words that are right are no mistakes.
    assert.equal((await runInProcess(['validate', 'service.yaml'], { cwd, env: { HOME: cwd } })).code, 0);
    assert.ok(MISTAKES.length >= 40);
  });
});

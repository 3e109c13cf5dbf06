import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Command } from 'commander';
import { Compile } from 'typebox/schema';
import { isDecidingCommand } from '../../core/detect/guard/deciding-commands.ts';
import { callOperation } from '../../operations/call.ts';
import type { Terminal } from '../../operations/cli-kit/terminal.ts';
import { interceptTool } from '../../operations/intercept.ts';
import { Refusal } from '../../operations/operation.ts';
import { buildOperatorCaller } from '../../runtime/access/callers.ts';
import { OPERATOR_PERMISSIONS } from '../../runtime/config/permissions.ts';
import { loadConfig } from '../../server/load-config.ts';
import { openLocalRuntime } from '../../server/local.ts';
import { operations } from '../../server/operations.ts';
import { addDerivedVerbs } from './derived-verbs.ts';
import { runInProcess, withFolder } from './testing/run.ts';

test('derived verbs that need an operator are in the list that keeps agents from them', () => {
  let verbs = 0;
  for (const { permission, cli } of operations) {
    if (permission === null || !OPERATOR_PERMISSIONS.includes(permission)) continue;
    if (cli === undefined) continue;
    assert.ok(isDecidingCommand(cli.verb.split(' ')), cli.verb);
    verbs += 1;
  }
  assert.ok(verbs >= 5);
});

test('a derived verb names members of the input and of the answer that exist', () => {
  let verbs = 0;
  for (const { name, cli, input, output } of operations) {
    if (cli === undefined) continue;
    for (const member of [...(cli.arguments ?? []), ...(cli.options ?? [])])
      assert.ok(member in input.properties, `${name} ${member}`);
    if (cli.columns !== undefined) {
      const { items } = output.properties[cli.columns.rows];
      for (const member of Object.values(cli.columns.cells))
        assert.ok(member in items.properties, `${name} ${member}`);
    }
    verbs += 1;
  }
  assert.ok(verbs >= 11);
});

/** Splits a command line as a shell does, without variables. */
const splitWords = (line: string) =>
  [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replaceAll(/["']/g, ''));

test('the examples of derived verbs are valid calls', async () => {
  let calls = 0;
  const wrong: string[] = [];
  for (const operation of operations) {
    if (operation.cli === undefined) continue;
    const validator = Compile(operation.input);
    for (const [line] of operation.cli.examples.filter(([each]) => !each.includes('...'))) {
      const [, group, ...words] = splitWords(line);
      const command = new Command(group!).exitOverride();
      addDerivedVerbs(command, [operation], {} as Terminal, async (_terminal, _config, _operation, input) => {
        if (!validator.Check(input)) wrong.push(`${line}: ${JSON.stringify(input)}`);
        calls += 1;
        throw new Refusal('not_found', 'Nothing is called here.');
      });
      await assert.rejects(command.parseAsync(words, { from: 'user' }), Refusal, line);
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(calls >= 50, `${calls}`);
});

test('a derived verb prints its sentences as separate lines', () => {
  let sentences = 0;
  for (const { name, cli, answer } of operations) {
    if (cli?.line === undefined || answer === null) continue;
    for (const line of [cli.line(answer as never)].flat()) assert.doesNotMatch(line, /\n/, name);
    sentences += 1;
  }
  assert.ok(sentences >= 10);
});

test('a derived verb refuses a missing argument, an unknown option and a missing option that is required', () =>
  withFolder(async (cwd) => {
    const rows = [
      [['agents', 'block'], /agent_id/],
      [['agents', 'block', 'one', '--unknown'], /unknown option/],
      [['mcp', 'pins', 'approve', 'files', 'read_file'], /--sha256/],
    ] as const;
    for (const [args, sentence] of rows) {
      const { code, stderr } = await runInProcess(args, { cwd });
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, sentence);
    }
  }));

test('an answer within an answer is indented below its name', () =>
  withFolder(async (cwd) => {
    writeFileSync(join(cwd, 'service.yaml'), 'audit: {log_argument_shapes: ["refund*"]}\n');
    const read = await loadConfig({ path: null, env: {}, cwd, secrets: 'leave' });
    assert.ok(read.ok);
    const runtime = await openLocalRuntime(read.config);
    const call = { agent_id: 'bot', tool: 'refund_order', arguments: { amount: 5 } };
    try {
      const context = { runtime, caller: buildOperatorCaller('cli:test'), request_id: 'test' };
      await callOperation(interceptTool, call, context);
    } finally {
      await runtime.close();
    }
    const { code, stdout, stderr } = await runInProcess(['observe', 'contract', 'refund_order'], { cwd });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^arguments_from recorded_calls\n/m);
    assert.match(
      stdout,
      /^arguments\n {2}type {8}object\n {2}properties\n {4}amount\n {6}type {4}integer\n/m,
    );
    assert.match(stdout, /^flow\.arguments\.amount money: only the person$/m);
  }));

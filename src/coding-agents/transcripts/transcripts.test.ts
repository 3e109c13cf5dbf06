import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { AuditEvent, AuditFilter } from '../../runtime/audit/types.ts';
import { codingAgents } from '../coding-agents.ts';
import type { TranscriptFormat } from '../record/transcript.ts';
import { readTranscripts } from './read-transcripts.ts';
import { type AuditedCalls, findAuditedCalls, findUnseenSessions } from './unseen-sessions.ts';

const NOON_MS = Date.parse('2026-11-20T12:00:00Z');
const AT = (minute: number) => new Date(NOON_MS + minute * 60_000).toISOString();

function getForm(agent: string): TranscriptFormat {
  const form = codingAgents.find(({ name }) => name === agent)?.transcript;
  assert.ok(form !== null && form !== undefined, agent);
  return form;
}

/** Reads files as if they were in an agent's folder. */
async function read(agent: string, files: Readonly<Record<string, string>>, pattern = '**/*', sinceMs = 0) {
  const folder = await mkdtemp(join(tmpdir(), 'transcripts-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    return await readTranscripts(getForm(agent), { folder, pattern }, sinceMs);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function formatLines(...values: readonly object[]): string {
  return `${values.map((value) => JSON.stringify(value)).join('\n')}\n`;
}

function buildCallsEntry(minute: number, ...blocks: readonly object[]): object {
  return {
    type: 'assistant',
    sessionId: 's-1',
    cwd: '/home/ada/project',
    timestamp: AT(minute),
    message: { role: 'assistant', content: [{ type: 'text', text: 'private' }, ...blocks] },
  };
}

function buildResultEntry(toolUseId: string, content: unknown, isError = false): object {
  const block = { type: 'tool_result', tool_use_id: toolUseId, content, is_error: isError };
  return { type: 'user', sessionId: 's-1', message: { role: 'user', content: [block] } };
}

const use = (id: string, name: string) => ({ type: 'tool_use', id, name, input: { command: 'private' } });

test('Claude Code: what was called is found, and what the agent refused to run is not', async () => {
  const text = formatLines(
    { type: 'summary', summary: 'private' },
    { type: 'user', sessionId: 's-1', cwd: '/home/ada/project', message: { content: 'private' } },
    buildCallsEntry(1, use('toolu_1', 'Bash'), use('toolu_2', 'Read')),
    buildResultEntry('toolu_1', '<tool_use_error>InputValidationError: private</tool_use_error>', true),
    buildResultEntry('toolu_2', [{ type: 'text', text: 'private' }]),
    buildCallsEntry(
      2,
      use('toolu_3', 'mcp__notes__add'),
      use('toolu_4', 'Bash'),
      use('toolu_5', 'EndConversation'),
    ),
    buildResultEntry('toolu_3', '<tool_use_error>an MCP server may write this itself</tool_use_error>', true),
    buildResultEntry('toolu_4', '<tool_use_error>a result that is no error</tool_use_error>'),
  );
  const { transcripts, file_count, skipped_count } = await read('claude-code', { 'p/s-1.jsonl': text });
  assert.deepEqual([file_count, skipped_count], [1, 0]);
  assert.deepEqual(transcripts, [
    {
      session_id: 's-1',
      cwd: '/home/ada/project',
      cwd_sha256: null,
      runs: [
        { id: 'toolu_2', tool: 'Read', at_ms: NOON_MS + 60_000, calls_hook: 'yes' },
        { id: 'toolu_3', tool: 'mcp__notes__add', at_ms: NOON_MS + 120_000, calls_hook: 'yes' },
        { id: 'toolu_4', tool: 'Bash', at_ms: NOON_MS + 120_000, calls_hook: 'yes' },
        { id: 'toolu_5', tool: 'EndConversation', at_ms: NOON_MS + 120_000, calls_hook: 'no' },
      ],
    },
  ]);
  assert.ok(!JSON.stringify(transcripts).includes('private'));
});

test('Codex CLI: calls with their ids, and whether the agent asks about them', async () => {
  const item = (payload: object) => ({ timestamp: AT(1), type: 'response_item', payload });
  const text = formatLines(
    { timestamp: AT(0), type: 'session_meta', payload: { id: 's-2', cwd: '/home/ada/project' } },
    item({ type: 'function_call', name: 'shell_command', call_id: 'call_1', arguments: 'private' }),
    item({ type: 'function_call_output', call_id: 'call_1', output: 'private' }),
    item({ type: 'custom_tool_call', name: 'apply_patch', call_id: 'call_2', input: 'private' }),
    item({ type: 'local_shell_call', call_id: 'call_3', action: {} }),
    item({ type: 'web_search_call', action: {} }),
    item({ type: 'function_call', name: 'write_stdin', call_id: 'call_4' }),
    item({ type: 'function_call', name: 'update_plan', call_id: 'call_5' }),
    item({ type: 'message', role: 'assistant', content: [] }),
  );
  const { transcripts } = await read('codex', { '2026/11/20/rollout-1.jsonl': text });
  assert.deepEqual(
    transcripts.flatMap(({ runs }) => runs.map(({ id, tool, calls_hook }) => [id, tool, calls_hook])),
    [
      ['call_1', 'shell_command', 'yes'],
      ['call_2', 'apply_patch', 'yes'],
      ['call_3', 'local_shell', 'yes'],
      [null, 'web_search', 'no'],
      ['call_4', 'write_stdin', 'no'],
      ['call_5', 'update_plan', 'unknown'],
    ],
  );
  assert.equal(transcripts[0]!.session_id, 's-2');
});

test('Gemini CLI: lines that come again count once, in both forms', async () => {
  const toolCalls = [
    { id: 'a', name: 'run_shell_command', status: 'success', timestamp: AT(1), args: { command: 'private' } },
    { id: 'b', name: 'write_file', status: 'cancelled', timestamp: AT(1) },
    { id: 'c', name: 'write_file', status: 'error', timestamp: AT(1) },
  ];
  const head = { sessionId: 's-3', projectHash: 'ab'.repeat(32), startTime: AT(0) };
  const message = { id: 'm1', type: 'gemini', content: 'private', toolCalls };
  const { transcripts } = await read('gemini', {
    'p/chats/session-1.jsonl': formatLines(head, { ...message, toolCalls: [] }, message, {
      $set: { messages: [message] },
    }),
    'p/chats/session-2.json': JSON.stringify({ ...head, sessionId: 's-4', messages: [message] }),
  });
  const found = transcripts.map(({ session_id, cwd_sha256, runs }) => [session_id, cwd_sha256, runs.length]);
  assert.deepEqual(found.sort(), [
    ['s-3', 'ab'.repeat(32), 1],
    ['s-4', 'ab'.repeat(32), 1],
  ]);
  assert.deepEqual(transcripts[0]!.runs[0], {
    id: null,
    tool: 'run_shell_command',
    at_ms: NOON_MS + 60_000,
    calls_hook: 'yes',
  });
});

test('GitHub Copilot CLI: what was begun is what ran', async () => {
  const started = (toolCallId: string, toolName: string) => ({
    type: 'tool.execution_start',
    timestamp: AT(1),
    data: { toolCallId, toolName, arguments: { command: 'private' } },
  });
  const { transcripts } = await read('copilot', {
    's-5/events.jsonl': formatLines(
      { type: 'session.start', data: { sessionId: 's-5', context: { cwd: '/home/ada/project' } } },
      { type: 'assistant.message', data: { toolRequests: [{ toolCallId: 'x', name: 'bash' }] } },
      started('t1', 'bash'),
      started('t2', 'view'),
      { type: 'tool.execution_complete', data: { toolCallId: 't1', success: true } },
    ),
  });
  assert.deepEqual(
    transcripts.map(({ session_id, cwd, runs }) => [session_id, cwd, runs.map(({ tool }) => tool)]),
    [['s-5', '/home/ada/project', ['bash', 'view']]],
  );
});

test('what cannot be read is counted, and the rest is read', async () => {
  const good = formatLines(buildCallsEntry(1, use('toolu_1', 'Bash')));
  const cutOff = '{"type":"assistant","sessionId":"s-1","message":{"content":[{"type":"tool_use"';
  const long = `${JSON.stringify({ type: 'user', sessionId: 's-1', blob: 'x'.repeat(9_000_000) })}\n`;
  const { transcripts, skipped_count } = await read('claude-code', {
    'p/a.jsonl': `${long}${good}${cutOff}`,
    'p/b.jsonl': 'no transcript at all\n',
    'p/c.json': '{"a":',
  });
  assert.equal(skipped_count, 3, 'the last line of the first may be on its way still');
  assert.deepEqual(
    transcripts.map(({ runs }) => runs.length),
    [1],
  );
  const nothing = await readTranscripts(getForm('codex'), { folder: '/nowhere/at/all', pattern: '**/*' }, 0);
  assert.deepEqual(nothing, { transcripts: [], file_count: 0, skipped_count: 0 });
});

test('files that were not written since are not read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'transcripts-'));
  const nowMs = Date.now();
  for (const [name, ageS] of [
    ['new.jsonl', 60],
    ['old.jsonl', 10 * 86_400],
  ] as const) {
    const path = join(folder, name);
    await writeFile(path, formatLines(buildCallsEntry(1, use('toolu_1', 'Bash'))));
    await utimes(path, nowMs / 1_000 - ageS, nowMs / 1_000 - ageS);
  }
  const place = { folder, pattern: '*.jsonl' };
  const { file_count } = await readTranscripts(getForm('claude-code'), place, nowMs - 7 * 86_400_000);
  assert.equal(file_count, 1);
  assert.equal((await readTranscripts(getForm('claude-code'), place, 0)).file_count, 2);
  await rm(folder, { recursive: true });
});

const EVER = { since_ms: 0, until_ms: Number.POSITIVE_INFINITY };

function buildAuditedCalls(
  ids: readonly string[],
  counts: readonly (readonly [string, number])[] = [],
): AuditedCalls {
  return { ids: new Set(ids), counts: new Map(counts), first_ms: null, is_partial: false };
}

const run = (id: string | null, tool: string, minute = 1, callsHook: 'yes' | 'no' | 'unknown' = 'yes') => ({
  id,
  tool,
  at_ms: NOON_MS + minute * 60_000,
  calls_hook: callsHook,
});
const reported = (sessionId: string, ...runs: readonly ReturnType<typeof run>[]) => ({
  session_id: sessionId,
  cwd: null,
  cwd_sha256: null,
  runs,
});

test('a call is found by its ID, whichever record names it', () => {
  const form = getForm('claude-code');
  const twice = [
    reported('s-1', run('a', 'Bash'), run('b', 'Read')),
    reported('s-1', run('b', 'Read'), run('c', 'Bash', 3)),
  ];
  assert.deepEqual(findUnseenSessions(form, twice, buildAuditedCalls(['a', 'b', 'c']), EVER), []);
  assert.deepEqual(findUnseenSessions(form, twice, buildAuditedCalls(['a']), EVER), [
    {
      session_id: 's-1',
      cwd: null,
      first_ms: NOON_MS + 60_000,
      last_ms: NOON_MS + 180_000,
      run_count: 3,
      unseen: [
        { tool: 'Bash', count: 1 },
        { tool: 'Read', count: 1 },
      ],
      is_certain: true,
    },
  ]);
  assert.deepEqual(
    findUnseenSessions(form, twice, buildAuditedCalls(['a']), {
      since_ms: NOON_MS + 240_000,
      until_ms: NOON_MS + 300_000,
    }),
    [],
    'all of it is older',
  );
  assert.deepEqual(
    findUnseenSessions(form, twice, buildAuditedCalls(['a']), { since_ms: 0, until_ms: NOON_MS }),
    [],
    'all of it is too new to tell',
  );
});

test('tools that need no hook are skipped, and tools whose need is unknown are marked as such', () => {
  const form = getForm('codex');
  const one = [reported('s-1', run(null, 'web_search', 1, 'no'), run('p', 'update_plan', 1, 'unknown'))];
  const [session, ...rest] = findUnseenSessions(form, one, buildAuditedCalls([]), EVER);
  assert.equal(rest.length, 0);
  assert.deepEqual(
    [session?.is_certain, session?.run_count, session?.unseen],
    [false, 1, [{ tool: 'update_plan', count: 1 }]],
  );
});

test('without ids calls are counted, by session and by tool under all its names', () => {
  const form = getForm('copilot');
  const runs = [
    reported('s-1', run(null, 'bash'), run(null, 'bash'), run(null, 'view')),
    reported('s-2', run(null, 'bash')),
  ];
  const key = (session: string, tool: string) => JSON.stringify([session, tool]);
  const all = buildAuditedCalls(
    [],
    [
      [key('s-1', 'bash'), 2],
      [key('s-1', 'view'), 1],
      [key('s-2', 'bash'), 1],
    ],
  );
  assert.deepEqual(findUnseenSessions(form, runs, all, EVER), []);
  const some = buildAuditedCalls(
    [],
    [
      [key('s-1', 'bash'), 1],
      [key('s-1', 'view'), 5],
      [key('s-3', 'bash'), 9],
    ],
  );
  assert.deepEqual(
    findUnseenSessions(form, runs, some, EVER).map(({ session_id, unseen }) => [session_id, unseen]),
    [
      ['s-1', [{ tool: 'bash', count: 1 }]],
      ['s-2', [{ tool: 'bash', count: 1 }]],
    ],
  );
});

function buildEvent(at: number, toolName: string, metadata: AuditEvent['metadata']): AuditEvent {
  const timestamp = AT(at);
  const eventId = `evt_${at}_${toolName}`;
  return { event_id: eventId, timestamp, session_id: 's-1', tool_name: toolName, metadata } as AuditEvent;
}

test('what was seen is looked up page by page, probes and results left out', async () => {
  const all = [
    buildEvent(3, 'Bash', { endpoint: 'intercept_tool', hook: 'copilot', phase: 'request' }),
    buildEvent(2, 'Read', {
      endpoint: 'intercept_tool',
      hook: 'copilot',
      phase: 'request',
      tool_use_id: 't2',
    }),
    buildEvent(1, 'Read', { endpoint: 'intercept_tool', hook: 'copilot', phase: 'response' }),
    buildEvent(0, 'Edit', { endpoint: 'intercept_tool', hook: 'copilot', tool_use_id: 't0' }),
    buildEvent(0, '', { endpoint: 'scan_input', hook: 'copilot', tool_use_id: 'none' }),
    buildEvent(0, 'Bash', {
      endpoint: 'intercept_tool',
      hook: 'copilot',
      phase: 'request',
      probe: 'service-doctor-0',
    }),
  ];
  const requested: AuditFilter[] = [];
  const query = async (filter: AuditFilter) => {
    requested.push(filter);
    return { events: all, count: all.length };
  };
  const found = await findAuditedCalls(query, { name: 'copilot', format: getForm('copilot') }, NOON_MS);
  assert.deepEqual([...found.ids], ['t2', 't0']);
  assert.deepEqual(
    [...found.counts],
    [
      [JSON.stringify(['s-1', 'bash']), 1],
      [JSON.stringify(['s-1', 'view']), 1],
      [JSON.stringify(['s-1', 'edit']), 1],
    ],
  );
  assert.deepEqual([found.first_ms, found.is_partial], [NOON_MS, false]);
  assert.equal(requested.length, 1);
  assert.deepEqual([requested[0]?.metadata_key, requested[0]?.metadata_value], ['hook', 'copilot']);
});

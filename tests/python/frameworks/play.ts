/** Plays the scenes of `scenario.py` with the adapters of the Python package and real frameworks. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestService, type TestService } from '../../support/service.ts';
import { runPython } from '../run-python.ts';

/** One scene: what the model and the tool saw, and the answer of the agent. */
type Outcome = readonly [
  question: string | null,
  ran_with: readonly string[],
  result: string | null,
  answer: string | null,
  refused: string | null,
];

/** A framework and its driver. */
export interface PythonFramework {
  /** The beginning of the driver's file name. */
  readonly name: string;
  /** Further ways to ask the agent. The scenes are the same, and the answer is all that a caller sees of a stream. */
  readonly ways?: readonly string[];
  /** The error's classes for a blocked prompt, outermost first; `null` if the framework raises none. Default `BlockedError`. */
  readonly raises?: string | null;
}

const SCENES: Readonly<Record<string, Outcome>> = {
  clean: ['What is the weather?', ['Rome'], 'Sunny.', 'It is sunny.', null],
  input_blocked: [null, [], null, null, 'A secret was found in input.'],
  input_masked: ['My social security number is [REDACTED].', [], null, 'Noted.', null],
  call_blocked: [
    'Look it up.',
    [],
    'Blocked by the rule builtin.secret.action: A secret was found in a tool call or message. Do not try again.',
    'I could not.',
    null,
  ],
  call_kept: ['Look it up.', ['My social security number is 536-22-8145.'], 'Sunny.', 'It is sunny.', null],
  result_masked: ['Look it up.', ['Rome'], 'DATABASE_URL=[REDACTED]', 'There it is.', null],
  output_masked: ['What is the setting?', [], null, 'It is DATABASE_URL=[REDACTED]', null],
};
/** Frameworks word the failure of a tool in their own ways. */
const FAILURE = 'tool_fails';
const TOOL_SCENES = ['clean', 'call_blocked', 'result_masked'];
const ANSWER_SCENES = ['clean', 'output_masked'];
/** The agent whose calls are not approved. */
const UNDECIDED = 'undecided';

/** The services that the scenes are played in front of. */
export interface Stage {
  readonly service: TestService;
  readonly approving: TestService;
  /** Address of a service that is gone as soon as a tool call is to be checked. */
  readonly without_tools: string;
  /** Address of a service that is gone as soon as an answer is to be checked. */
  readonly without_answers: string;
  readonly stop: () => Promise<void>;
}

/** Starts the services. */
export async function openStage(): Promise<Stage> {
  const rule = {
    name: 'look-ups',
    boundary: 'action',
    condition: { tools: ['*look_up'] },
    action: 'require_approval',
  };
  const [service, approving] = await Promise.all([
    startTestService({ workers: 1 }),
    startTestService({ config: { policies: [rule] }, workers: 1 }),
  ]);
  const gaps = await Promise.all(
    ['/v1/intercept', '/v1/guard/output'].map((route) => openGap(service, route)),
  );
  const ended = new AbortController();
  const approver = approveWaiting(approving, ended.signal);
  const stop = async () => {
    ended.abort();
    await approver;
    for (const gap of gaps) gap.closeAllConnections();
    for (const gap of gaps) gap.close();
    await Promise.all([service.stop(), approving.stop()]);
  };
  const [withoutTools, withoutAnswers] = gaps.map(
    (gap) => `http://127.0.0.1:${(gap.address() as AddressInfo).port}`,
  );
  return { service, approving, without_tools: withoutTools!, without_answers: withoutAnswers!, stop };
}

/** Opens a server that answers as the service does, except on one route, where it closes the connection. */
async function openGap(service: TestService, route: string): Promise<Server> {
  const gap = createServer((given, answer) => {
    if (given.url?.startsWith(route) === true) {
      given.socket.destroy();
      return;
    }
    const { method, headers } = given;
    const path = `${service.url}${given.url}`;
    // A kept connection may be closed just when it is used again.
    const next = forward(path, { method: method!, headers, agent: false }, (reply) => {
      answer.writeHead(reply.statusCode!, reply.headers);
      reply.pipe(answer);
    });
    // Without a listener an error ends all tests in the file.
    next.on('error', () => given.socket.destroy());
    given.pipe(next);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => gap.once('listening', resolve));
  return gap;
}

/** Plays all scenes with one framework. Rejects with what differs. Returns the number of scenes. */
export async function playPython(python: string, framework: PythonFramework, stage: Stage): Promise<number> {
  const all = [...Object.keys(SCENES), FAILURE];
  const unanswered = [{ SERVICE_URL: stage.without_answers }, ANSWER_SCENES];
  const modes = {
    local: [{}, all],
    service: [{ SERVICE_URL: stage.service.url }, all],
    gone: [{ SERVICE_URL: 'http://127.0.0.1:9' }, all],
    half: [{ SERVICE_URL: stage.without_tools }, TOOL_SCENES],
    unanswered,
    undecided: [
      { SERVICE_URL: stage.approving.url, SERVICE_APPROVAL_SECONDS: '0', SERVICE_AGENT_ID: UNDECIDED },
      ['clean'],
    ],
    approved: [
      {
        SERVICE_URL: stage.approving.url,
        SERVICE_APPROVAL_SECONDS: '60',
        SERVICE_AGENT_ID: framework.name,
      },
      ['clean'],
    ],
  };
  const { ways = [], raises = 'BlockedError' } = framework;
  const ownModes = Object.fromEntries(
    ways.flatMap((way) => [
      [way, [{}, all]],
      [`${way}_unanswered`, unanswered],
    ]),
  );
  const ran = await runPython(python, [join(import.meta.dirname, `${framework.name}_driver.py`)], {
    MODES: JSON.stringify({ ...modes, ...ownModes }),
  });
  assert.equal(ran.code, 0, ran.stderr.slice(-4_000));
  const found = JSON.parse(ran.stdout.trim().split('\n').at(-1)!) as Record<
    keyof typeof modes,
    Record<string, Record<string, unknown>>
  >;
  assert.deepEqual(getOutcomes(found.local), SCENES, 'in process');
  assert.deepEqual(getOutcomes(found.service), SCENES, 'with a service');
  for (const way of ways) assert.deepEqual(getOutcomes(found[way as 'local']), SCENES, way);
  for (const mode of ['local', 'service', ...ways]) {
    assert.equal(found[mode as 'local'].input_blocked?.raised, raises, mode);
    const failed = found[mode as 'local'][FAILURE];
    assert.notDeepEqual(failed?.ran_with, [], `${mode}: the tool did not run`);
    assert.doesNotMatch(
      JSON.stringify(failed),
      /p4ssw0rd/,
      `${mode}: the error of a tool was shown unchecked`,
    );
  }
  for (const [name, { refused, ran_with }] of Object.entries(found.gone)) {
    assert.deepEqual(ran_with, [], `${name}: a tool ran without a service`);
    assert.match(String(refused), /could not be reached/, name);
  }
  for (const [name, { ran_with }] of Object.entries(found.half))
    assert.deepEqual(ran_with, [], `${name}: a tool ran unchecked`);
  for (const mode of ['unanswered', ...ways.map((way) => `${way}_unanswered`)])
    for (const [name, { answer, refused }] of Object.entries(found[mode as 'unanswered'])) {
      assert.equal(answer || null, null, `${mode}, ${name}: an answer was shown unchecked`);
      assert.match(String(refused), /could not be reached/, `${mode}, ${name}`);
    }
  assert.deepEqual(found.undecided.clean?.ran_with, [], 'a tool ran without its approval');
  assert.deepEqual(getOutcomes(found.approved), { clean: SCENES.clean }, 'with an approval');
  return Object.values(found).reduce((count, mode) => count + Object.keys(mode).length, 0);
}

function getOutcomes(found: Readonly<Record<string, Record<string, unknown>>>): Record<string, unknown> {
  // CrewAI ends a run with the notice that names the rule, the others with the error.
  const plain = (text: unknown) =>
    typeof text === 'string'
      ? text.replace(/^Blocked by the rule \S+: (.*) Do not try again\.$/, '$1')
      : text;
  return Object.fromEntries(
    Object.entries(found)
      .filter(([name]) => name !== FAILURE)
      .map(([name, { question, ran_with, result, answer, refused }]) => [
        name,
        [question, ran_with, result, answer, plain(refused)],
      ]),
  );
}

/** Approves all agents' calls but one's. */
async function approveWaiting(service: TestService, ended: AbortSignal): Promise<void> {
  const token = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const approveOnce = async (): Promise<void> => {
    const response = await fetch(`${service.url}/v1/approvals?status=pending`, { headers });
    const { approvals } = (await response.json()) as {
      approvals: { request_id: string; agent_id: string }[];
    };
    for (const { request_id } of approvals.filter(({ agent_id }) => agent_id !== UNDECIDED))
      await fetch(`${service.url}/v1/approvals/${request_id}/approve`, {
        method: 'POST',
        headers,
        body: '{}',
      });
  };
  while (!ended.aborted) {
    // The service may close an idle connection just when it is used again; the next round opens another one.
    await approveOnce().catch(() => {});
    await sleep(100);
  }
}

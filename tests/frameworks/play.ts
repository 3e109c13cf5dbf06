/** Runs the driver of a framework and compares what its agent saw with what it must see. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownNodeEnvironment, runProgram } from '../support/checkout.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Mode, POLICIES, type SceneResult } from './scenes.ts';

/** An agent of a framework, and where it differs from the others. */
export interface Driver {
  /** The file of the driver, below this folder. */
  readonly file: string;
  /** The scenes are played a second time, streamed. */
  readonly streams: boolean;
  /** Places that keep a refused call's arguments despite the adapter. Default none. */
  readonly keeps?: readonly string[];
  /** The error's classes for a blocked prompt, outermost first; `null` if the framework throws none. Default `BlockedError`. */
  readonly raises?: string | null;
  /** Outcomes that differ from those of most frameworks. */
  readonly differs?: Readonly<Record<string, Outcome>>;
}

/** The question that the model saw, the arguments of the tool, its result for the model, the answer, and the error. */
export type Outcome = readonly [
  string | null,
  readonly string[],
  string | null,
  string | null,
  string | null,
];

const INPUT = 'A secret was found in input.';
const CALL =
  'Blocked by the rule builtin.secret.action: A secret was found in a tool call or message. Do not try again.';
const MASKED = 'DATABASE_URL=[REDACTED]';

/** The outcomes with a guard in process. */
const LOCAL: Readonly<Record<string, Outcome>> = {
  clean: ['What is the weather?', ['Rome'], 'Sunny.', 'It is sunny.', null],
  input_blocked: [null, [], null, null, INPUT],
  input_masked: ['My social security number is [REDACTED].', [], null, 'Noted.', null],
  call_blocked: ['Look it up.', [], CALL, 'I could not.', null],
  result_masked: ['Look it up.', ['Rome'], MASKED, 'There it is.', null],
  output_masked: ['What is the setting?', [], null, `It is ${MASKED}`, null],
  needs_approval: ['Refund it.', [], 'A local guard cannot ask for an approval', 'Finished.', null],
};
/** With a service, an approver agrees. */
const CLIENT = {
  ...LOCAL,
  needs_approval: ['Refund it.', ['Rome'], 'Refunded.', 'Finished.', null] as const,
};
/** Frameworks word the failure of a tool in their own ways. */
const FAILURE = 'tool_fails';
const REFUSED = 'call_blocked';
const SCENES = Object.keys(LOCAL).length + 1;

const MODES: readonly Mode[] = ['local', 'client', 'lost', 'gone', 'gone_tools'];

/** Starts the service that the drivers ask. */
export function startScenesService(): Promise<TestService> {
  return startTestService({ config: { policies: POLICIES }, workers: 1 });
}

/** Plays all scenes of a framework: in process, with a service, and with the service gone. */
export async function playDriver(driver: Driver, service: TestService): Promise<void> {
  const rounds = driver.streams ? 2 : 1;
  const approver = startApprover(service);
  const playedModes = await play(driver, service.url).finally(approver.stop);
  assert.equal(await approver.stop(), rounds);
  const { local, client, lost } = playedModes;
  compare(local, { ...LOCAL, ...driver.differs }, driver);
  assert.equal(local.clean_streamed?.shown, driver.streams ? LOCAL.clean?.[3] : undefined);
  compare(client, { ...CLIENT, ...driver.differs }, driver);
  assertNothingShown(lost, rounds);
  for (const mode of ['gone', 'gone_tools'] as const) {
    const played = playedModes[mode];
    const outcomes = Object.values(played);
    assert.equal(outcomes.length, SCENES * rounds);
    for (const { ran_with, refused, result, answer } of outcomes) {
      assert.deepEqual(ran_with, []);
      if (mode === 'gone') assert.match(`${refused} ${answer}`, /could not be reached/);
      else if (result !== null) assert.match(result, /could not be reached/);
    }
    // A model without a guard shows that the places are watched.
    const { kept = [], refused } = played.call_blocked ?? {};
    if (mode === 'gone_tools' && refused === null) assert.ok(kept.includes('messages'), kept.join());
    const stopped = outcomes.filter(({ result }) => result !== null);
    if (mode === 'gone_tools')
      assert.ok(stopped.length >= 4 * rounds || outcomes.every((each) => each.refused), 'no tool was called');
  }
}

/** Without its checks an answer is shown neither whole nor in part. */
function assertNothingShown(outcomes: Record<string, SceneResult>, rounds: number): void {
  assert.equal(Object.keys(outcomes).length, SCENES * rounds);
  for (const [name, { ran_with, refused, shown, answer }] of Object.entries(outcomes)) {
    assert.deepEqual(ran_with, [], name);
    assert.match(`${refused} ${answer}`, /could not be reached|was found in/, name);
    assert.match(shown, /^$|could not be reached|was found in/, name);
  }
}

async function play(
  { file }: Driver,
  serviceUrl: string,
): Promise<Record<Mode, Record<string, SceneResult>>> {
  const env = ownNodeEnvironment({ MODES: MODES.join(), SERVICE_URL: serviceUrl });
  const ran = await runProgram([process.execPath, join(import.meta.dirname, file)], { env });
  assert.equal(ran.code, 0, ran.stderr);
  return JSON.parse(ran.stdout.trim().split('\n').at(-1) ?? '') as Record<Mode, Record<string, SceneResult>>;
}

/** Errors and results of frameworks hold the sentence of the guard with words around it. */
function compare(
  outcomes: Record<string, SceneResult>,
  expected: Readonly<Record<string, Outcome>>,
  { keeps = [], raises = 'BlockedError' }: Driver,
): void {
  const names = Object.keys(outcomes);
  assert.ok(names.length === SCENES || names.length === 2 * SCENES, names.join());
  for (const [name, seen] of Object.entries(outcomes)) {
    assert.deepEqual(seen.kept, name.startsWith(REFUSED) ? keeps : [], name);
    if (name.startsWith(FAILURE)) {
      assert.ok(seen.ran_with.length > 0, `${name}: ${seen.refused}`);
      assert.doesNotMatch(JSON.stringify(seen), /p4ssw0rd/, name);
      const shown = `${seen.result} ${seen.refused}`;
      assert.ok(shown.includes(MASKED) || shown === 'null null', `${name}: ${shown}`);
      continue;
    }
    if (name.startsWith('input_blocked')) assert.equal(seen.raised, raises, name);
    const wanted = expected[name] ?? expected[name.replace('_streamed', '')];
    assert.ok(wanted !== undefined, name);
    const [question, ranWith, result, answer, refused] = wanted;
    assert.deepEqual(
      [seen.question, seen.ran_with, seen.answer],
      [question, ranWith, answer],
      `${name}: ${seen.refused}`,
    );
    for (const [given, part] of [
      [seen.result, result],
      [seen.refused, refused],
    ])
      assert.ok(part === null ? given === null : String(given).includes(String(part)), `${name}: ${given}`);
  }
}

/** Approves every request until it is stopped; then returns how many there were. */
function startApprover({ url, state_dir }: TestService): { stop: () => Promise<number> } {
  const operator = readFileSync(join(state_dir, 'operator-token'), 'utf8').trim();
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${operator}` };
  let isStopped = false;
  let approved = 0;
  const work = (async () => {
    while (!isStopped) {
      const listed = await fetch(`${url}/v1/approvals?status=pending`, { headers });
      const { approvals } = (await listed.json()) as { approvals: { request_id: string }[] };
      for (const { request_id } of approvals) {
        await fetch(`${url}/v1/approvals/${request_id}/approve`, { method: 'POST', headers, body: '{}' });
        approved += 1;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return approved;
  })();
  return {
    stop: () => {
      isStopped = true;
      return work;
    },
  };
}

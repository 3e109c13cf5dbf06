/** A journal of several days for reports, made by the real decision engine under a clock that the test sets. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { stringify } from 'yaml';
import { type DemoEngine, openDemoEngine } from '../../scripts/demo/engine.ts';
import { loadFramework } from '../../src/features/compliance/frameworks.ts';
import { buildComplianceReport } from '../../src/features/compliance/report.ts';
import type { FrameworkId } from '../../src/operations/compliance-frameworks.ts';
import { guardOutput } from '../../src/operations/guard.ts';
import { interceptTool } from '../../src/operations/intercept.ts';
import type { LocalRuntime } from '../../src/operations/runtime.ts';
import { scanInput } from '../../src/operations/scan.ts';
import { loadConfig } from '../../src/server/load-config.ts';
import { openLocalRuntime } from '../../src/server/local.ts';

export const DAY_MS = 86_400_000;
export const START_MS = Date.parse('2026-03-01T10:00:00.000Z');

/** Values that may be in no report, put together so that no scanner of repositories reports this file. */
export const MARKERS = {
  secret: ['gh', 'p_', 'Zq7KxWm2Rv9LtB4n', 'C8jH5sYd3FpA6gVe1UoQ'].join(''),
  ssn: ['541', '87', '6502'].join('-'),
  record: '90417263',
};

/** The configuration of one day, and the seconds after its start at which the events are. */
export interface TestDay {
  readonly config: Readonly<Record<string, unknown>>;
  readonly at_ms: number;
  /** Rounds of events, a minute apart. */
  readonly rounds: number;
}

/** Plays days one after another in one state folder. */
export async function playDays(test: TestContext, days: readonly TestDay[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'compliance-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'policies'), { recursive: true });
  for (const day of days) await playOne(folder, day);
  return folder;
}

const OPEN = { undeclared_tools: 'allow', unknown_agents: 'allow' };

/** Plays one day in a folder that may have events already. */
export async function playOne(folder: string, { config, at_ms, rounds }: TestDay): Promise<void> {
  writeFileSync(
    join(folder, 'service.yaml'),
    stringify({ server: { mode: 'gateway' }, policy: OPEN, ...config }),
  );
  const clock = { now_ms: at_ms };
  const engine = await openDemoEngine(folder, clock);
  try {
    for (let round = 0; round < rounds; round++, clock.now_ms += 60_000) await playRound(engine, clock);
  } finally {
    await engine.close();
  }
}

async function playRound(engine: DemoEngine, clock: { now_ms: number }): Promise<void> {
  for (const tenantId of ['acme', 'globex']) {
    const who = { tenant_id: tenantId, agent_id: `${tenantId}-<b>bot</b>`, session_id: `${tenantId}-1` };
    const call = (operation: Parameters<DemoEngine['call']>[0], input: object) =>
      engine.call(operation, { ...who, ...input }, engine.callerOf(tenantId));
    clock.now_ms += 1_000;
    await call(scanInput, { text: `Use the token ${MARKERS.secret} please.` });
    await call(guardOutput, { text: `SSN ${MARKERS.ssn}, medical record: ${MARKERS.record}.` });
    await call(interceptTool, { tool: 'run_command', input: { command: 'rm -rf / --no-preserve-root' } });
    await call(interceptTool, { tool: 'issue_refund', input: { order: `${tenantId}-${clock.now_ms}` } });
    await call(scanInput, { text: 'What is the weather?' });
  }
}

/** Opens the folder for reports, as the command line does. */
export async function openReader(test: TestContext, folder: string): Promise<LocalRuntime> {
  const read = await loadConfig({ path: null, env: {}, cwd: folder, secrets: 'leave' });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const runtime = await openLocalRuntime(read.config);
  test.after(() => runtime.close());
  return runtime;
}

/** Builds a report on a window of days after the start. */
export function makeReport(
  runtime: LocalRuntime,
  framework: FrameworkId,
  fromDay: number,
  toDay: number,
  tenants: '*' | readonly string[] = '*',
) {
  const sinceMs = START_MS + fromDay * DAY_MS;
  const untilMs = START_MS + toDay * DAY_MS;
  const request = { since_ms: sinceMs, until_ms: untilMs, tenants, agents: '*', last: null } as const;
  return buildComplianceReport({ ...request, framework: loadFramework(framework) }, runtime);
}

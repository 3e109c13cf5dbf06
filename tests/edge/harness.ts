/** agent-security-harness against the MCP server and the MCP proxy. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownNodeEnvironment, runProgram } from '../support/checkout.ts';
import { locateEdgeTool } from './environment.ts';

const RUN_MS_MAX = 5 * 60_000;

/** A server under attack, and its expected results. */
export interface HarnessTarget {
  readonly name: string;
  /** Transport arguments: `--url URL`, or a command on standard input and output. */
  readonly args: readonly string[];
  /** Checks that are not executed there, in addition to `NEVER_EXECUTED`, each with its reason. */
  readonly not_executed: Readonly<Record<string, string>>;
  /** Checks that fail by their own rule, each with its reason. */
  readonly accepted: Readonly<Record<string, string>>;
}

const NO_FIXTURE =
  'needs a fixture of the tested server: an approval that it asks for, a handle, a task, or a revocation';
/** Checks that no target executes. */
const NEVER_EXECUTED: Readonly<Record<string, string>> = {
  'MCP-007': 'clients answer sampling requests; neither the server nor the proxy offers it',
  'MCP-011':
    'a refused call is a result with `isError`, which the check counts neither as a refusal nor as a failure',
  'MCP-022': 'needs an authorization server that issues tokens for two audiences',
  'MCP-RC-002': NO_FIXTURE,
  'MCP-RC-003': NO_FIXTURE,
  'MCP-RC-004': NO_FIXTURE,
  'MCP-RC-005': NO_FIXTURE,
  'MCP-RC-006': NO_FIXTURE,
  'MCP-RC-008': NO_FIXTURE,
  'MCP-RC-010': NO_FIXTURE,
  'MCP-RC-011': 'a trace header authorizes nothing, so that no value of it can be in conflict',
  'MCP-RC-012': 'needs two issuers',
};

interface HarnessResult {
  readonly test_id: string;
  readonly name: string;
  readonly passed: boolean;
  readonly details: string;
}

/** Runs all checks for MCP on a target. Returns a line with the counts, and a sentence for each unexpected result. */
export async function runHarness(
  target: HarnessTarget,
  dir: string,
): Promise<{ readonly summary: string; readonly problems: readonly string[] }> {
  const report = join(dir, 'harness.json');
  const words = [locateEdgeTool('agent-security'), 'test', 'mcp', ...target.args, '--report', report];
  const env = ownNodeEnvironment({ HOME: dir, AGENT_SECURITY_TELEMETRY: 'off' });
  const { code, stderr } = await runProgram(words, { cwd: dir, env, timeout: RUN_MS_MAX });
  if (code === null || code > 2) throw new Error(`${target.name}: ${stderr.slice(-2000)}`);
  const { results } = JSON.parse(readFileSync(report, 'utf8')) as { results: readonly HarnessResult[] };
  const expected = { ...NEVER_EXECUTED, ...target.not_executed };
  const isOpen = ({ passed, details }: HarnessResult) => !passed && details.startsWith('INCONCLUSIVE');
  const passed = results.filter((each) => each.passed);
  const open = results.filter(isOpen);
  const failed = results.filter((each) => !each.passed && !isOpen(each));
  const names = new Set([...open, ...failed].map(({ test_id }) => test_id));
  const problems = [
    ...failed
      .filter(({ test_id }) => !(test_id in target.accepted))
      .map(({ test_id, name, details }) => `${test_id} ${name} fails: ${details.slice(0, 300)}`),
    ...open
      .filter(({ test_id }) => !(test_id in expected))
      .map(({ test_id, name, details }) => `${test_id} ${name} was not executed: ${details.slice(0, 300)}`),
    ...Object.keys({ ...expected, ...target.accepted })
      .filter((id) => !names.has(id))
      .map((id) => `${id} passes now: remove it from the list of exceptions`),
  ];
  const summary = `${target.name}: ${passed.length} pass, ${failed.length} fail, ${open.length} are not executed`;
  return { summary, problems: results.length === 0 ? ['no check ran'] : problems };
}

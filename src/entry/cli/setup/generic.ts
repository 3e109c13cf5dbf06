import { quoteArg } from '../../../coding-agents/record/hook-command.ts';
import { printLine, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import { findProgram } from './find-program.ts';

/** Prints the manual steps for agents and frameworks that have no installer here. */
export function printGenericInstructions(config: string | undefined, terminal: Terminal): void {
  const program = findProgram().words.map(quoteArg).join(' ');
  const file = quoteArg(config ?? '/path/to/service.yaml');
  const lines = [
    'Any program that runs a command before it acts can call the hook:',
    '',
    `  echo '{"tool":"Bash","input":{"command":"ls"},"agent_id":"my-agent","session_id":"s1"}' \\`,
    `    | ${program} hook --exit-code --config ${file}`,
    '',
    'Exit codes: 0 (allowed), 1 (denied), 2 (no decision: treat it as denied). The reason is printed as JSON.',
    '',
    `Any HTTP client can call the service (${program} serve --config ${file}):`,
    '',
    '  POST /v1/scan/input       {"text"}                                before a text enters the agent',
    '  POST /v1/intercept/tool   {"tool","input","agent_id"}             before a tool runs',
    '  POST /v1/intercept/tool   {"tool","output","phase":"response"}    before the agent sees a result',
    '  POST /v1/guard/output     {"text"}                                before a text leaves',
    '',
    'Continue if `decision` is `allow`; use the modified_* member if it is `modify`; treat everything else as denied: `block`,',
    'an unknown word, an error, no answer. docs/reference/hook.md and docs/reference/http.md have the rest.',
    '',
    `Any MCP client can use these as tools: ${program} mcp --config ${file}`,
  ];
  for (const line of lines) printLine(terminal, line);
}

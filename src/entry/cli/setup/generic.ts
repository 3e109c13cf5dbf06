import { quoted } from '../../../coding-agents/hosts/index.ts';
import { say, type Terminal } from '../terminal.ts';
import { programToRun } from './program-words.ts';

/** Says what to do by hand, for what has no installer here. */
export function tellGeneric(config: string | undefined, terminal: Terminal): void {
  const program = programToRun().words.map(quoted).join(' ');
  const file = quoted(config ?? '/path/to/service.yaml');
  const lines = [
    'Anything that runs a command before it acts can ask with the hook:',
    '',
    `  echo '{"tool":"Bash","input":{"command":"ls"},"agent_id":"my-agent","session_id":"s1"}' \\`,
    `    | ${program} hook --exit-code --config ${file}`,
    '',
    'It ends with 0 (go on), 1 (the answer is no) or 2 (it could not be asked: also a no), and says why as JSON.',
    '',
    `Anything that speaks HTTP can ask a service (${program} serve --config ${file}):`,
    '',
    '  POST /v1/scan/input       {"text"}                                before a text enters the agent',
    '  POST /v1/intercept/tool   {"tool","input","agent_id"}             before a tool runs',
    '  POST /v1/intercept/tool   {"tool","output","phase":"response"}    before the agent sees a result',
    '  POST /v1/guard/output     {"text"}                                before a text leaves',
    '',
    'Go on where `decision` is `allow`; use the modified_* member where it is `modify`; everything else is a no: `block`,',
    'an unknown word, an error, no answer. docs/reference/hook.md and docs/reference/http.md have the rest.',
    '',
    `Anything that starts MCP servers can have these as tools: ${program} mcp --config ${file}`,
  ];
  for (const line of lines) say(terminal, line);
}

/**
 * A coding agent that `service hook` does not know by itself: Windsurf, whose Cascade runs hooks before and after what it does.
 * It writes one JSON object on standard input; exit code 2 with a reason on standard error stops what comes `pre_`, and
 * nothing stops what is `post_`. All of it is data: `{/tool_info/file_path}` is what stands there in the payload.
 *
 * In `.windsurf/hooks.json` enter `service hook --dialect windsurf --config /path/service.yaml` for each event below.
 */
const deny = { stderr: '{reason}', code: 2 };

/** What every payload of Cascade has. */
const payload = (agentActionName, toolInfo) => ({
  agent_action_name: agentActionName,
  trajectory_id: 'trajectory-1',
  execution_id: 'execution-1',
  timestamp: '2026-11-21T20:00:00Z',
  tool_info: toolInfo,
});

export default {
  name: 'windsurf',
  version: '1.0.0',
  description: 'Windsurf Cascade asks service hook.',
  dialects: [
    {
      name: 'windsurf',
      event: '{/agent_action_name}',
      subject: { session_id: '{/trajectory_id}', tool_use_id: '{/execution_id}' },
      events: {
        pre_run_command: {
          checks: [
            // Names that rules and packs know already, so that they hold here too.
            { kind: 'call', tool: 'Bash', content: { command: '{/tool_info/command_line}' } },
          ],
          deny,
        },
        pre_read_code: {
          checks: [{ kind: 'call', tool: 'Read', content: { file_path: '{/tool_info/file_path}' } }],
          deny,
        },
        pre_write_code: {
          checks: [
            {
              kind: 'call',
              tool: 'Edit',
              content: { file_path: '{/tool_info/file_path}', edits: '{/tool_info/edits}' },
            },
          ],
          deny,
        },
        pre_mcp_tool_use: {
          checks: [
            {
              kind: 'call',
              tool: 'mcp__{/tool_info/mcp_server_name}__{/tool_info/mcp_tool_name}',
              content: '{/tool_info/mcp_tool_arguments}',
            },
          ],
          deny,
        },
        pre_user_prompt: {
          checks: [{ kind: 'prompt', content: '{/tool_info/user_prompt}' }],
          deny,
        },
      },
      ignored_events: [
        'post_read_code',
        'post_write_code',
        'post_run_command',
        'post_mcp_tool_use',
        'post_cascade_response',
      ],
      // Each event must have one; they are tried whenever the plug-in is loaded.
      examples: [
        {
          payload: payload('pre_run_command', { command_line: 'npm test', cwd: '/home/ada/shop' }),
          checks: [{ kind: 'call', tool: 'Bash', content: { command: 'npm test' } }],
        },
        {
          payload: payload('pre_read_code', { file_path: '/home/ada/shop/.env' }),
          checks: [{ kind: 'call', tool: 'Read', content: { file_path: '/home/ada/shop/.env' } }],
        },
        {
          payload: payload('pre_write_code', {
            file_path: '/home/ada/shop/a.ts',
            edits: [{ old_string: 'a', new_string: 'b' }],
          }),
          checks: [
            {
              kind: 'call',
              tool: 'Edit',
              content: { file_path: '/home/ada/shop/a.ts', edits: [{ old_string: 'a', new_string: 'b' }] },
            },
          ],
        },
        {
          payload: payload('pre_mcp_tool_use', {
            mcp_server_name: 'notes',
            mcp_tool_name: 'add',
            mcp_tool_arguments: { text: 'milk' },
          }),
          checks: [{ kind: 'call', tool: 'mcp__notes__add', content: { text: 'milk' } }],
        },
        {
          payload: payload('pre_user_prompt', { user_prompt: 'Add a test.' }),
          checks: [{ kind: 'prompt', content: 'Add a test.' }],
        },
        { payload: payload('post_run_command', { command_line: 'npm test' }), checks: [] },
      ],
    },
  ],
};

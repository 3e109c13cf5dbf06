/** A scripted server with the interface of the model: it calls `send` with a secret, then answers with an address. */
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const calls = body.includes('mcp__mail__send') && !body.includes('"tool_result"');
  const block = calls
    ? { type: 'tool_use', id: 't1', name: 'mcp__mail__send', input: {} }
    : { type: 'text', text: '' };
  const delta = calls
    ? { type: 'input_json_delta', partial_json: '{"key":"sk-ABCDEF1234567890"}' }
    : { type: 'text_delta', text: 'I could not, write to jane.doe@corp-mail.io.' };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'm1', type: 'message', role: 'assistant', model: 'scripted', content: [], usage };
  const events = {
    message_start: { message },
    content_block_start: { index: 0, content_block: block },
    content_block_delta: { index: 0, delta },
    content_block_stop: { index: 0 },
    message_delta: { delta: { stop_reason: calls ? 'tool_use' : 'end_turn' }, usage },
    message_stop: {},
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [type, data] of Object.entries(events))
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  response.end();
}).listen(0, '127.0.0.1');
await once(server, 'listening');

const home = mkdtempSync(join(tmpdir(), 'claude-agent-'));
export const environment = {
  PATH: process.env.PATH,
  HOME: home,
  ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
  ANTHROPIC_API_KEY: 'none',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
};

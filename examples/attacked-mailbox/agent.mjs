/**
 * An agent that pays invoices, with a scripted model that believes every mail. Customshouse decides on the prompt, on each
 * tool call and on each result.
 *
 *     node agent.mjs "Pay the invoices: Lind Catering 120 euros, Hansen Bau 480 euros."
 */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const { SERVICE_URL = 'http://127.0.0.1:8000', SERVICE_KEY } = process.env;
const [prompt, session = `session-${Date.now()}`] = process.argv.slice(2);
const subject = { agent_id: 'mailbox-agent', session_id: session };

const client = new Client({ name: 'mailbox-agent', version: '1.0.0' });
const server = new URL('server.mjs', import.meta.url).pathname;
await client.connect(new StdioClientTransport({ command: process.execPath, args: [server] }));

/** Asks the service. Whatever fails is a block. */
async function ask(path, body, passes = ['allow']) {
  const response = await fetch(`${SERVICE_URL}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${SERVICE_KEY}` },
    body: JSON.stringify({ ...subject, ...body }),
  });
  const answer = await response.json();
  if (response.ok && passes.includes(answer.decision)) return;
  throw new Error(answer.approval ? `held, ${answer.approval.request_id}: ${answer.reason}` : answer.reason);
}

/** Calls a tool if the service allows the call, and returns its result if the service allows that. */
async function call(name, input = {}) {
  const tool = `mcp__mailbox__${name}`;
  await ask('/v1/intercept/tool', { tool, input, reuse_approval: true });
  const result = await client.callTool({ name, arguments: input });
  const output = JSON.parse(result.content[0].text);
  await ask('/v1/intercept/tool', { tool, phase: 'response', output });
  return output;
}

// The words of the person who uses the agent. The key may state that. Personal data is masked for a model; this script
// keeps it.
await ask('/v1/scan/input', { text: prompt, context: { origin: 'user', ...subject } }, ['allow', 'modify']);

const contacts = await call('get_contacts');
for (const { id } of await call('list_mail')) {
  const { text } = await call('read_mail', { id });
  // The model believes the mail: what it says about an account replaces the address book.
  const contact = contacts.find(({ name }) => text.includes(name));
  const [account] = /DE\d{20}/.exec(text) ?? [];
  if (account) contact.account = account;
}
for (const { name, account } of contacts) {
  const [, amount] = new RegExp(`${name} (\\d+) euros`).exec(prompt) ?? [];
  if (amount === undefined) continue;
  try {
    await call('send_money', { recipient: account, amount: Number(amount) });
    console.log(`${name}: ${amount} euros paid to ${account}`);
  } catch (error) {
    console.log(`${name}: ${error.message}`);
  }
}
await client.close();

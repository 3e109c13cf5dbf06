import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { autoConfigAdvisor } from '../../core/advisors/auto-config.ts';
import { readProject } from './read-project.ts';
import { readServerProject } from './server-project.ts';

const scratch = mkdtempSync(join(tmpdir(), 'read-project-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

function writeProject(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(scratch, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Concatenated, so that no secret scanner of repositories reports it. */
const KEY = ['sk-', 'ABCDEF1234567890abcd'].join('');

test('a Python project gives the names of packages, imports, tools and agents', async () => {
  const folder = writeProject('python', {
    'pyproject.toml':
      '[project]\nname = "shop"\ndependencies = ["langchain>=0.3", "openai-agents", "requests[socks]==2.0 ; python_version > \\"3\\""]\n[project.optional-dependencies]\ndev = ["pytest"]\n[tool.poetry.dependencies]\npython = "^3.12"\ncrewai = "*"\n',
    'requirements.txt': '# comment\nfastapi==0.115  # web\n-r other.txt\nhttps://example.com/x.whl\n',
    'src/shop/tools.py': `
import os
from langchain_core.tools import tool, BaseTool
from . import local

API_KEY = "${KEY}"

@tool
def send_email(to: str, body: dict[str, str], *, urgent: bool = False) -> str:
    """Sends a message to jane.doe@corp-mail.io."""

@agent.tool(retries=2)
async def delete_user(ctx, user_id: int):
    pass

@server.tool()
def list_orders(limit: int = 10): ...

class Refund(BaseTool):
    name: str = "issue_refund"

search = Tool(func=run, name="web_search", description="x")
bot = Agent(name="support bot", tools=[send_email])
`,
    'venv/lib/evil.py': '@tool\ndef not_ours(): ...\n',
    '.hidden/evil.py': '@tool\ndef not_ours(): ...\n',
  });
  const outline = await readProject(folder);
  assert.deepEqual(outline, {
    languages: ['python'],
    packages: ['crewai', 'fastapi', 'langchain', 'openai-agents', 'pytest', 'requests'],
    imports: ['langchain_core', 'os'],
    frameworks: ['crewai', 'fastapi', 'langchain', 'openai-agents'],
    tools: [
      { name: 'delete_user', parameters: ['user_id'] },
      { name: 'issue_refund', parameters: [] },
      { name: 'list_orders', parameters: ['limit'] },
      { name: 'send_email', parameters: ['to', 'body', 'urgent'] },
      { name: 'web_search', parameters: [] },
    ],
    agents: ['support_bot'],
    mcp_servers: [],
    file_count: 3,
    is_partial: false,
  });
});

test('a TypeScript project gives the names of packages, imports, tools, agents and MCP servers', async () => {
  const folder = writeProject('typescript', {
    'package.json': JSON.stringify({
      dependencies: { ai: '6', '@modelcontextprotocol/sdk': '2' },
      scripts: { x: KEY },
    }),
    'src/agent.ts': `
import { tool, generateText } from 'ai';
import fs from 'node:fs';
import { z } from "zod/v4";
const helper = require('./helper');
const getWeather = tool({ description: 'x', inputSchema: z.object({}) });
export const tools = { bookFlight: tool({ execute: async () => '${KEY}' }) };
server.registerTool('create_issue', {}, async () => {});
server.tool("close-issue", async () => {});
const lookup = new DynamicStructuredTool({ name: 'lookup_order', schema });
const functions = [{ type: 'function', function: { name: 'charge_card', parameters: {} } }];
const agent = new Agent({ name: 'Billing agent', tools });
`,
    '.mcp.json': JSON.stringify({ mcpServers: { github: { env: { TOKEN: KEY } } } }),
    '.vscode/mcp.json': JSON.stringify({ servers: { postgres: { url: `https://u:${KEY}@db.example` } } }),
    'node_modules/evil/index.js': "server.tool('not_ours', x)",
    '.env': `OPENAI_API_KEY=${KEY}`,
  });
  const outline = await readProject(folder);
  assert.deepEqual(
    outline.tools.map(({ name }) => name),
    [...['bookFlight', 'charge_card', 'close-issue', 'create_issue', 'getWeather', 'lookup_order']],
  );
  assert.deepEqual(outline.packages, ['@modelcontextprotocol/sdk', 'ai']);
  assert.deepEqual(outline.imports, ['ai', 'zod']);
  assert.deepEqual(outline.agents, ['Billing_agent']);
  assert.deepEqual(outline.mcp_servers, ['github', 'postgres']);
  assert.deepEqual(outline.frameworks, ['mcp', 'vercel-ai']);
  const { user } = autoConfigAdvisor.brief({ outline, has_configuration: false, reads_identities: true });
  assert.ok(!user.includes(KEY) && !user.includes('ABCDEF') && user.includes('charge_card'));
});

test('the framework and the tool of every shipped example are found', async () => {
  const examples = new URL('../../../examples/', import.meta.url).pathname;
  const names = readdirSync(examples).filter((name) => /^(?:python|typescript)-(?!quickstart$)/.test(name));
  for (const name of names) {
    const { tools, frameworks } = await readProject(join(examples, name));
    assert.deepEqual(
      tools.map((tool) => tool.name),
      ['send'],
      name,
    );
    // A decorator with a schema says more than the function, so no parameters are known.
    const isKnown = name.startsWith('python-') && name !== 'python-claude-agent';
    assert.deepEqual(tools[0]!.parameters, isKnown ? ['key'] : [], name);
    assert.ok(frameworks.length > 0, name);
  }
  assert.equal(names.length, 21);
});

test('a function is a tool only if a list of tools has it', async () => {
  const folder = writeProject('listed', {
    'a.py': [
      'def send(key: str): ...',
      'def helper(x): ...',
      'async def look_up(order_id: int, *, limit=3): ...',
      'agent = create_agent(model, [send], middleware=[helper])',
      'other = Agent("bot", middleware=[helper], tools=[send])',
      'bound = model.bind_tools([look_up, imported])',
      '@tool("issue_refund", args_schema=Refund)',
      'def refund(amount): ...',
    ].join('\n'),
  });
  assert.deepEqual((await readProject(folder)).tools, [
    { name: 'issue_refund', parameters: ['amount'] },
    { name: 'look_up', parameters: ['order_id', 'limit'] },
    { name: 'send', parameters: ['key'] },
  ]);
});

test('links and large files are skipped, a project below a hidden folder is read, and a missing one is an error', async () => {
  const folder = writeProject('.hidden-parent/project', {
    'a.py': '@tool\ndef ours(): ...\n',
    'big.py': ' '.repeat(600_000),
  });
  const outside = writeProject('outside', { 'b.py': '@tool\ndef not_ours(): ...\n' });
  symlinkSync(outside, join(folder, 'linked'));
  symlinkSync(join(outside, 'b.py'), join(folder, 'b.py'));
  const outline = await readProject(folder);
  assert.deepEqual(
    outline.tools.map(({ name }) => name),
    ['ours'],
  );
  assert.equal(outline.is_partial, true);
  await assert.rejects(readProject(join(scratch, 'nowhere')), { code: 'ENOENT' });
});

test('hostile sources take linear work', async () => {
  const hostile = [
    '@tool\n'.repeat(40_000),
    `Tool(${'name = '.repeat(60_000)}`,
    `from ${'"'.repeat(400_000)}`,
    'tool('.repeat(90_000),
  ];
  const files = Object.fromEntries(
    hostile.flatMap((text, at) => [
      [`${at}.py`, text],
      [`${at}.ts`, text],
    ]),
  );
  const outline = await readProject(writeProject('hostile', files));
  assert.equal(outline.file_count, 8);
});

test('a path names a root or a folder below it', async () => {
  const root = writeProject('proj', { 'a.py': 'import langchain\n' });
  writeProject('other', { 'a.py': '' });
  const places = { body_bytes_max: 1, file_roots: [root], state_dir: join(scratch, 'state') };
  for (const path of ['proj', './proj/', '.', root])
    assert.deepEqual((await readServerProject(path, places)).languages, ['python'], path);
  for (const path of ['other', '../other', 'roj', '..'])
    await assert.rejects(readServerProject(path, places), { code: 'not_found' }, path);
});

import type { PolicyPack } from './policy-pack.ts';

/** Returns patterns for tools of the MCP servers that match `server`, one per verb. */
const mcp = (server: string, ...verbs: readonly string[]) => verbs.map((verb) => `mcp__${server}__${verb}`);
const plain = (prefix: string, ...verbs: readonly string[]) => verbs.map((verb) => `${prefix}${verb}`);

/** A verb must begin a word; otherwise `reply_to_thread` would match `read`. */
const words = (...verbs: readonly string[]) => verbs.flatMap((verb) => [`${verb}*`, `*_${verb}*`]);

const READING = words('read', 'get', 'list', 'search', 'fetch');
const SENDING = words('send', 'reply', 'forward', 'post');

const SHELLS = ['Bash', 'bash', 'shell', 'run_shell_command', 'run_command', 'execute_command', 'terminal'];

/** A web page is untrusted content, and its address may carry data out. */
const WEB_PAGES = [
  ...['WebFetch', 'web_fetch', 'fetch', 'fetch_url', 'fetch_page', 'read_url', 'open_url', 'http_get'],
  ...['browse', 'browser_*', 'navigate', 'scrape*'],
  ...mcp('fetch', '*'),
  ...mcp('playwright', '*'),
  ...mcp('puppeteer', '*'),
  ...mcp('*browser*', '*'),
  ...mcp('firecrawl*', '*'),
];
const WEB_SEARCH = [
  ...['WebSearch', 'web_search', 'search_web', 'google_search', 'google_web_search', 'brave_search'],
  ...mcp('*search*', '*'),
  ...mcp('tavily*', '*'),
  ...mcp('exa*', '*'),
];
const HTTP = [
  'http_request',
  'http_post',
  'http_put',
  'curl',
  'webhook*',
  'requests_*',
  ...mcp('*http*', '*'),
];

const MAIL = ['*mail*', '*outlook*'];
const MAIL_READING = [
  ...plain('read_', 'email*', 'mail*'),
  ...plain('get_', 'email*', 'mail*'),
  ...plain('list_', 'email*', 'mail*'),
  ...plain('search_', 'email*', 'mail*'),
  ...plain('gmail_', ...READING),
  ...MAIL.flatMap((server) => mcp(server, ...READING)),
];
const MAIL_SENDING = [
  ...plain('send_', 'email*', 'mail*'),
  ...plain('reply_', '*email*', '*mail*'),
  ...plain('forward_', 'email*', 'mail*'),
  ...plain('gmail_', ...SENDING),
  ...MAIL.flatMap((server) => mcp(server, ...SENDING)),
];

const CHATS = ['*slack*', '*discord*', '*teams*'];
const CHAT_READING = [...plain('slack_', ...READING), ...CHATS.flatMap((server) => mcp(server, ...READING))];
const CHAT_SENDING = [
  ...plain('slack_', ...SENDING),
  ...plain('send_', 'message*', 'slack*'),
  ...CHATS.flatMap((server) => mcp(server, ...SENDING)),
];

const FORGES = ['*github*', '*gitlab*'];
/** Issues and comments can be written by strangers; the files of a repository may be private. */
const ISSUES = FORGES.flatMap((server) =>
  mcp(server, ...READING.flatMap((verb) => [`${verb}issue*`, `${verb}request*`]), '*_read'),
);
const REPOSITORIES = FORGES.flatMap((server) =>
  mcp(server, ...words('get_file', 'search_code', 'read_file')),
);
const FORGE_WRITING = FORGES.flatMap((server) =>
  mcp(server, ...words('create', 'update', 'push', 'add', 'merge'), '*_write'),
);

const FILES = [
  ...[
    'Read',
    'NotebookRead',
    'Grep',
    'read_file',
    'read_text_file',
    'read_many_files',
    'read_multiple_files',
  ],
  ...['open_file', 'cat_file'],
  ...mcp('*filesystem*', ...words('read', 'search', 'get')),
];
const DATABASES = [
  ...['sql', 'run_sql', 'sql_query', 'execute_sql', 'query_database', 'database_query', 'run_query'],
  ...['postgres*', '*mysql*', '*sqlite*', '*sql*', 'mongo*', 'bigquery*', 'snowflake*'].flatMap((server) =>
    mcp(server, '*'),
  ),
];
const DOCUMENTS = ['*drive*', '*notion*', '*confluence*', '*sharepoint*', '*calendar*'].flatMap((server) =>
  mcp(server, ...READING),
);

const marks = (name: string, tag: string, tools: readonly string[]) => ({
  name: `trifecta-${name}`,
  boundary: 'action',
  condition: { tools, phase: ['request', 'response'] },
  session: { add: [tag] },
});

const BOTH = ['untrusted', 'private'];
const REASON = 'Private data and content of strangers were read in this session, so nothing may leave it.';

const stops = (name: string, more: object, condition: object) => ({
  name: `trifecta-${name}`,
  boundary: 'action',
  action: 'block',
  priority: 5,
  severity: 'critical',
  reason: REASON,
  ...more,
  condition: { session_tags: BOTH, ...condition },
});

/**
 * A policy pack against the combination of private data, untrusted content and an outbound channel: an agent that
 * has all three can be made to leak the data. Any two of them are allowed. Personal data on a web page is not
 * private data here; the tool decides which tag applies.
 */
export const lethalTrifecta: PolicyPack = {
  name: 'lethal-trifecta',
  description: 'Blocks output of a session with taint tags of both private data and untrusted content.',
  document: {
    version: 'v1alpha1',
    policies: [
      marks('web-is-untrusted', 'untrusted.web', [...WEB_PAGES, ...WEB_SEARCH, ...HTTP]),
      marks('mail-is-untrusted', 'untrusted.mail', MAIL_READING),
      marks('chat-is-untrusted', 'untrusted.chat', CHAT_READING),
      marks('issues-are-untrusted', 'untrusted.issue', ISSUES),
      marks('mail-is-private', 'private.mail', MAIL_READING),
      marks('chat-is-private', 'private.chat', CHAT_READING),
      marks('files-are-private', 'private.file', FILES),
      marks('repositories-are-private', 'private.repository', REPOSITORIES),
      marks('databases-are-private', 'private.database', DATABASES),
      marks('documents-are-private', 'private.document', DOCUMENTS),
      stops('web-is-a-way-out', {}, { tools: [...WEB_PAGES, ...HTTP] }),
      stops('mail-is-a-way-out', {}, { tools: MAIL_SENDING }),
      stops('chat-is-a-way-out', {}, { tools: CHAT_SENDING }),
      stops('repositories-are-a-way-out', {}, { tools: FORGE_WRITING }),
      stops(
        'shells-are-a-way-out',
        { description: 'A command with an address in it.', data_tags: ['egress'] },
        { tools: SHELLS },
      ),
      stops(
        'declared-ways-out',
        { description: 'Tools whose contract says `side_effects.egress: true`.', data_tags: ['egress.tool'] },
        {},
      ),
    ],
  },
};

/** Writes tables of pages in `docs` from the lists that they show. All other text of a page is written by hand. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codingAgents } from '../../src/coding-agents/coding-agents.ts';
import type { CodingAgent } from '../../src/coding-agents/record/coding-agent.ts';
import { formatHookCommand } from '../../src/coding-agents/record/hook-command.ts';
import { listInstalledHooks } from '../../src/coding-agents/record/settings.ts';
import { PACKAGE_NAME } from '../../src/core/names.ts';
import { apiFamilies } from '../../src/core/wire/families/index.ts';
import { wireFormats } from '../../src/core/wire/formats/index.ts';
import { alertChannelDrivers } from '../../src/drivers/alerts/index.ts';
import { secretDrivers } from '../../src/drivers/secrets/index.ts';
import { listSchemaCells, type TableSchema } from './schema-table.ts';

/** A table of a page, between the comments `<!-- generated: NAME -->` and `<!-- end: NAME -->`. */
interface GeneratedTable {
  readonly page: string;
  readonly name: string;
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const TABLES: readonly GeneratedTable[] = [
  {
    page: 'docs/reference/secrets.md',
    name: 'secret backends',
    headings: ['`backend`', 'Source', 'Names'],
    rows: secretDrivers.map(({ name, docs }) => [`\`${name}\``, docs.reads, docs.names]),
  },
  {
    page: 'docs/reference/alert-channels.md',
    name: 'alert channels',
    headings: ['`type`', 'Receiver', 'When an alert is acknowledged or resolved'],
    rows: alertChannelDrivers.map(({ name, docs }) => [`\`${name}\``, docs.receiver, docs.ends]),
  },
  {
    page: 'docs/reference/alert-channels.md',
    name: 'settings of alert channels',
    headings: ['`type`', 'Setting', 'Value', 'Default', 'Description'],
    rows: alertChannelDrivers.flatMap(({ name, schema }) =>
      listSchemaCells(schema as TableSchema).map((cells) => [`\`${name}\``, ...cells]),
    ),
  },
  {
    page: 'docs/reference/hook.md',
    name: 'coding agents',
    headings: ['Agent', 'Command', 'Events', 'Entry', 'Leaves open'],
    rows: codingAgents.map(describeHook),
  },
  {
    page: 'docs/reference/llm-proxy.md',
    name: 'LLM routes',
    headings: ['Route', 'Format', 'API'],
    rows: apiFamilies.flatMap(({ name: family, label }) =>
      wireFormats
        .filter((format) => format.family === family)
        .flatMap(({ name, routes }) => routes.map(({ path }) => [`\`POST ${path}\``, `\`${name}\``, label])),
    ),
  },
];

/** Returns every page with generated tables, as it must be. */
export function renderPagesWithTables(): readonly { readonly path: string; readonly text: string }[] {
  const root = resolve(import.meta.dirname, '..', '..');
  return [...new Set(TABLES.map(({ page }) => page))].map((path) => {
    const tables = TABLES.filter(({ page }) => page === path);
    return { path, text: tables.reduce(fillTable, readFileSync(join(root, path), 'utf8')) };
  });
}

function describeHook({ name, label, settings }: CodingAgent): readonly string[] {
  const { hook_format, needs_event, guards_exit, leaves_open } = settings;
  const [first] = listInstalledHooks(settings);
  const command = formatHookCommand({
    program: [PACKAGE_NAME],
    config: '/path/service.yaml',
    dialect: name,
    event: needs_event ? first!.event : null,
    guards_exit,
  });
  const events = listInstalledHooks(settings)
    .map(({ event }) => `\`${event}\``)
    .join(', ');
  const entry = JSON.stringify(hook_format.entry(first!, 'COMMAND'));
  return [label, `\`${command.replaceAll('|', '\\|')}\``, events, `\`${entry}\``, leaves_open];
}

function fillTable(text: string, { page, name, headings, rows }: GeneratedTable): string {
  const [begin, end] = [`<!-- generated: ${name} -->\n`, `<!-- end: ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${page} has no place for the table of ${name}: ${begin}${end}`);
  const separator = `|${headings.map(() => '---').join('|')}|\n`;
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |\n`;
  const table = [line(headings), separator, ...rows.map(line)].join('');
  return `${text.slice(0, from)}${begin}\n${table}\n${text.slice(to)}`;
}

import { CodeBlock } from '../../components/code-block.tsx';
import { Panel } from '../../components/page-header.tsx';
import { nameProgram } from '../../components/prose.tsx';
import { revealHidden } from '../../components/safe-text.tsx';

/** The options of `customshouse audit export`, by the filters of the page. */
const EXPORT_OPTIONS: Readonly<Record<string, string>> = {
  agent_id: '--agent',
  tenant_id: '--tenant',
  session_id: '--session',
  decision: '--decision',
  policy_name: '--policy',
  data_tag: '--data-tag',
  since: '--since',
  until: '--until',
  last: '--last',
};

/** The command that exports all events. It runs next to the journal, and not in the browser. */
export function AuditCommands({ filter }: { readonly filter: Readonly<Record<string, unknown>> }) {
  const { command, left_out } = buildExportCommand(filter);
  return (
    <Panel title="Export all events">
      <div className="stack">
        <p>
          “Columns and export” above the table saves the rows that were read. This command writes all events
          that match, in bounded memory.
        </p>
        <CodeBlock text={command} label="Command that exports events" />
        {left_out.length === 0 ? null : (
          <p className="muted">The command has no option for the filters {left_out.join(', ')}.</p>
        )}
      </div>
    </Panel>
  );
}

function buildExportCommand(filter: Readonly<Record<string, unknown>>) {
  const options: string[] = [];
  const leftOut: string[] = [];
  for (const [name, value] of Object.entries(filter)) {
    const option = EXPORT_OPTIONS[name];
    const text = String(value);
    // A command that is copied holds no character that cannot be seen.
    if (option === undefined || revealHidden(text) !== text) leftOut.push(name);
    else options.push(`${option} ${quoteArgument(text)}`);
  }
  return {
    command: [nameProgram('customshouse audit export'), ...options].join(' ').concat(' > events.jsonl'),
    left_out: leftOut,
  };
}

function quoteArgument(text: string): string {
  return /^[\w.:@/+][\w.:@/+-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

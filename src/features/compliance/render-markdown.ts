import {
  formatActions,
  formatApprovals,
  formatGapMessage,
  formatSpan,
  formatStates,
  formatStatus,
  formatUtcTime,
  GAP_WORDS,
  groupDigits,
} from './render-text.ts';
import type { ComplianceReport, ControlReport } from './report-types.ts';

/** Renders a report as Markdown. */
export function renderMarkdown(report: ComplianceReport): string {
  const lines = [
    `# ${escapeText(report.title)}: compliance report`,
    '',
    ...listHead(report),
    '',
    '## Controls',
    '',
    ...renderTable(
      ['Control', 'Subject', 'Status', 'Active parts', 'Gaps'],
      report.controls.map(({ control_id, title, status, active, gaps }) => [
        escapeText(control_id),
        escapeText(title),
        status,
        active ?? '',
        String(gaps.length),
      ]),
    ),
    '',
    ...report.controls.flatMap((control) => [...listControl(control, report), '']),
    ...listPolicies(report),
    '',
    ...listJournal(report),
  ];
  return `${lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()}\n`;
}

function listHead(report: ComplianceReport): string[] {
  const { edition, window, tenants, agents, summary, scope, mapping } = report;
  const { control_counts, action_counts } = summary;
  return [
    `- Framework: ${escapeText(edition)}; mapping reviewed ${mapping.reviewed}, \`${mapping.hash}\``,
    `- Window: ${formatUtcTime(window.since)} to ${formatUtcTime(window.until)} (exclusive)`,
    `- Tenants: ${tenants?.map(renderCode).join(', ') ?? 'all'}; agents: ${agents?.map(renderCode).join(', ') ?? 'all'}`,
    `- Controls: ${Object.entries(control_counts)
      .map(([status, count]) => `${count} ${status}`)
      .join(', ')}`,
    `- Events: ${groupDigits(summary.total_events)} (${formatActions(action_counts) || 'none'})`,
    `- Approval requests: ${formatApprovals(summary)}`,
    `- Most frequent rules: ${listTop(summary.top_policies)}`,
    `- Most active agents: ${listTop(summary.data_access_by_agent)}`,
    `- Deletions of expired memory: ${summary.memory_retention_events}`,
    ...summary.anomaly_flags.map((flag) => `- **Anomaly:** ${escapeText(flag)}`),
    ...report.record_gaps.map(
      (gap) => `- **Gap of all controls:** ${escapeText(formatGapMessage(gap))} *${formatSpan(gap, window)}*`,
    ),
    '',
    ...scope.map((sentence) => `> ${escapeText(sentence)}`),
  ];
}

function listTop(pairs: ComplianceReport['summary']['top_policies']): string {
  return pairs.map(([name, events]) => `${renderCode(name)} ${groupDigits(events)}`).join(', ') || 'none';
}

function listControl(control: ControlReport, { window }: ComplianceReport): string[] {
  const { evidence, gaps, elements } = control;
  return [
    `### ${escapeText(control.control_id)} ${escapeText(control.title)}`,
    '',
    `**${formatStatus(control)}**`,
    '',
    `Asked: ${escapeText(control.requirement)}`,
    ...(control.contribution === '' ? [] : ['', `Here: ${escapeText(control.contribution)}`]),
    '',
    ...(elements.length === 0
      ? []
      : renderTable(
          ['Carried by', 'Effect', 'When'],
          elements.map((each) => [
            (each.kind === 'rule' ? renderCode(each.name) : escapeText(each.name)) +
              (each.tenant_id === null ? '' : ` (${renderCode(each.tenant_id)})`),
            escapeText(each.detail),
            escapeText(formatStates(each, window)),
          ]),
        )),
    '',
    ...(evidence.counts.length === 0
      ? []
      : renderTable(
          ['Evidence', 'Events', 'Outcome', 'First', 'Last'],
          evidence.counts.map((each) => [
            `${each.kind} ${renderCode(each.name)}`,
            groupDigits(each.events),
            formatActions(each.actions),
            formatUtcTime(each.first),
            formatUtcTime(each.last),
          ]),
        )),
    '',
    ...(evidence.sample_event_ids.length === 0
      ? []
      : [`Sample events: ${evidence.sample_event_ids.map(renderCode).join(', ')}`, '']),
    ...(gaps.length === 0 ? [] : ['Gaps:', '']),
    ...gaps.map((gap) => {
      const span = formatSpan(gap, window);
      return `- (${GAP_WORDS[gap.kind]}) ${escapeText(formatGapMessage(gap))}${span === '' ? '' : ` *${span}*`}`;
    }),
    '',
    ...(control.settings.length === 0
      ? []
      : [`Settings to check: ${control.settings.map(renderCode).join(', ')}`, '']),
    ...(control.permissions.length === 0
      ? []
      : [`Permissions: ${control.permissions.map(renderCode).join(', ')}`]),
  ];
}

function listPolicies({ policies, changes }: ComplianceReport): string[] {
  return [
    '## Policies that decided',
    '',
    ...renderTable(
      ['Policy', 'Rules', 'In monitor mode', 'Contracts', 'Identities', 'Active'],
      policies.map((each) => [
        renderCode(each.policy_hash),
        each.saved ? String(each.rules) : 'no longer saved',
        String(each.monitored_rules),
        String(each.contracts),
        String(each.identities),
        each.intervals
          .map(({ since, until }) => `${formatUtcTime(since)} to ${formatUtcTime(until)}`)
          .join('; '),
      ]),
    ),
    '',
    ...(changes.length === 0
      ? ['No change of the policy was recorded in the window.']
      : renderTable(
          ['Change', 'Time', 'By', 'Event'],
          changes.map((each) => [
            `${renderCode(each.kind)}${each.done ? '' : ' (refused)'}`,
            formatUtcTime(each.timestamp),
            renderCode(each.caller_id),
            renderCode(each.event_id),
          ]),
        )),
  ];
}

function listJournal({ journal, evidence }: ComplianceReport): string[] {
  const { oldest_event, chains } = journal;
  return [
    '## Journal',
    '',
    `Oldest event that is kept: ${oldest_event === null ? 'none' : formatUtcTime(oldest_event)}`,
    '',
    ...renderTable(
      ['Chain', 'Checkpoint', 'Record', 'Hash', 'Key', 'Covers the window'],
      chains.map(({ writer, checkpoint, covers_window }) => [
        renderCode(writer),
        checkpoint === null ? 'none' : formatUtcTime(checkpoint.timestamp),
        checkpoint === null ? '' : String(checkpoint.seq),
        checkpoint === null ? '' : renderCode(checkpoint.record_hash),
        checkpoint === null ? '' : renderCode(checkpoint.key_id),
        covers_window ? 'yes' : 'no: newer events are not signed yet',
      ]),
    ),
    '',
    `Sample events: ${evidence.sample_event_ids.map(renderCode).join(', ') || 'none'}`,
    '',
    `Sample approval requests: ${evidence.sample_approval_ids.map(renderCode).join(', ') || 'none'}`,
  ];
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}

/** Escapes text for Markdown. Names in backticks stay as they are, because our own sentences use them. */
function escapeText(value: string): string {
  return value
    .replace(/\s+/g, ' ')
    .split('`')
    .map((part, at) => (at % 2 === 1 ? part.replaceAll('|', '\\|') : part.replace(/[\\|<>*_[\]#]/g, '\\$&')))
    .join('`');
}

/** Formats a name as code. A name may have backticks, pipes and line breaks, because callers choose some. */
function renderCode(value: string): string {
  const safe = value.replace(/\s+/g, ' ').replaceAll('|', '\\|');
  return safe.includes('`') ? `\`\` ${safe} \`\`` : `\`${safe}\``;
}

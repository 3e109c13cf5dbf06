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
import type { ComplianceReport, ControlGap, ControlReport, ControlStatus } from './report-types.ts';

/** Forbids scripts, requests and everything else than the style of the page itself. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE = `
:root { color-scheme: light; --ink: #17202a; --soft: #5b6770; --line: #d5dbe0; --paper: #fff; --wash: #f4f6f8;
  --enforced: #1b6e3c; --partly: #8a5a00; --gap: #a8201a; --outside: #4a5560; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.5rem 4rem; color: var(--ink); background: var(--paper);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1 { font-size: 1.9rem; margin: 0 0 .2rem; line-height: 1.2; }
h2 { font-size: 1.35rem; margin: 2.4rem 0 .6rem; border-bottom: 2px solid var(--ink); padding-bottom: .2rem; }
h3 { font-size: 1.1em; margin: 0; }
p { margin: .4rem 0; }
.lead, .soft { color: var(--soft); }
code { font: .87em/1.4 ui-monospace, "SFMono-Regular", "Liberation Mono", Menlo, monospace; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 .8rem; font-size: .92em; }
th, td { text-align: left; vertical-align: top; padding: .28rem .6rem .28rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
span.time { white-space: nowrap; font-variant-numeric: tabular-nums; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: .8rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
ul { margin: .3rem 0 .6rem; padding-left: 1.2rem; } li { margin: .15rem 0; }
.figures { display: grid; grid-template-columns: repeat(4, 1fr); gap: .8rem; margin: 1rem 0; }
.figure { border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .8rem; background: var(--wash); }
.figure b { display: block; font-size: 1.5rem; line-height: 1.2; }
.status { font-weight: 600; white-space: nowrap; }
.enforced { color: var(--enforced); } .partly { color: var(--partly); } .gap { color: var(--gap); } .outside { color: var(--outside); }
article { border: 1px solid var(--line); border-left: .35rem solid currentColor; border-radius: .3rem; padding: .8rem 1rem; margin: 1rem 0; }
article > * { color: var(--ink); } article .status.enforced { color: var(--enforced); } article .status.partly { color: var(--partly); }
article .status.gap { color: var(--gap); } article .status.outside { color: var(--outside); }
.top { display: flex; justify-content: space-between; gap: 1rem; align-items: baseline; }
.kind { color: var(--soft); } .notice { border: 1px solid var(--gap); border-radius: .3rem; padding: .5rem .8rem; margin: .8rem 0; }
@page { size: A4; margin: 16mm 14mm; }
@media print { body { max-width: none; padding: 0; font-size: 10.5px; } h1 { font-size: 20px; } h2 { font-size: 15px; break-after: avoid; }
  .top, h3, thead { break-after: avoid; } tr, li, .figure { break-inside: avoid; } thead { display: table-header-group; }
  article { break-inside: auto; } * { print-color-adjust: exact; } }
@media (max-width: 40rem) { .figures { grid-template-columns: 1fr 1fr; } dl { grid-template-columns: 1fr; } }
`;

/** Renders a report as one HTML file without scripts and requests, for a screen and for paper. */
export function renderHtml(report: ComplianceReport): string {
  const title = `${report.title}: compliance report`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
${renderHead(report)}
<h2>Controls</h2>
${renderOverview(report)}
${report.controls.map((control) => renderControl(control, report)).join('\n')}
${renderPolicies(report)}
${renderJournal(report)}
</body>
</html>
`;
}

function renderHead(report: ComplianceReport): string {
  const { edition, window, summary, scope, mapping, tenants, agents, record_gaps } = report;
  const { control_counts, anomaly_flags } = summary;
  const figures = (Object.entries(control_counts) as [ControlStatus, number][]).map(
    ([status, count]) =>
      `<div class="figure"><b class="${getClass(status)}">${count}</b>${escapeHtml(status)}</div>`,
  );
  const rows: readonly (readonly [string, string])[] = [
    ['Framework', escapeHtml(edition)],
    ['Window', `${formatUtcTime(window.since)} to ${formatUtcTime(window.until)} (exclusive)`],
    ['Tenants', escapeHtml(tenants?.join(', ') ?? 'all')],
    ['Agents', escapeHtml(agents?.join(', ') ?? 'all')],
    [
      'Events',
      escapeHtml(`${groupDigits(summary.total_events)} (${formatActions(summary.action_counts) || 'none'})`),
    ],
    ['Approval requests', escapeHtml(formatApprovals(summary))],
    ['Most frequent rules', listTop(summary.top_policies)],
    ['Most active agents', listTop(summary.data_access_by_agent)],
    ['Deletions of memory', groupDigits(summary.memory_retention_events)],
    ['Mapping', `reviewed ${escapeHtml(mapping.reviewed)}, ${renderCode(mapping.hash)}`],
    [
      'Sources',
      mapping.sources.map(({ title, url }) => `${escapeHtml(title)} (${escapeHtml(url)})`).join('<br>'),
    ],
  ];
  return `<p class="lead">What was enforced from ${formatUtcTime(window.since)} to ${formatUtcTime(window.until)}, with the evidence and the gaps.</p>
<div class="figures">${figures.join('')}</div>
${record_gaps.map((gap) => `<p class="notice"><b>Gap of all controls.</b> ${renderProse(formatGapMessage(gap))} ${formatSpan(gap, window)}.</p>`).join('\n')}
${anomaly_flags.map((flag) => `<p class="notice"><b>Anomaly.</b> ${escapeHtml(flag)}</p>`).join('\n')}
<dl>${rows.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join('')}</dl>
<ul>${scope.map((sentence) => `<li>${renderProse(sentence)}</li>`).join('')}</ul>`;
}

function listTop(pairs: ComplianceReport['summary']['top_policies']): string {
  return pairs.map(([name, events]) => `${renderCode(name)} ${groupDigits(events)}`).join(', ') || 'none';
}

function renderOverview({ controls }: ComplianceReport): string {
  const rows = controls.map(({ control_id, title, status, active, gaps }) => [
    escapeHtml(control_id),
    escapeHtml(title),
    `<span class="status ${getClass(status)}">${escapeHtml(status)}</span>`,
    active ?? '',
    `<span class="soft">${gaps.length}</span>`,
  ]);
  return renderTable(['Control', 'Subject', 'Status', 'Active parts', 'Gaps'], rows);
}

function renderControl(control: ControlReport, { window }: ComplianceReport): string {
  const { status, elements, evidence, gaps, settings, permissions } = control;
  return `<article class="${getClass(status)}">
<div class="top"><h3>${escapeHtml(control.control_id)} ${escapeHtml(control.title)}</h3><span class="status ${getClass(status)}">${escapeHtml(status)}</span></div>
<p class="soft">${escapeHtml(formatStatus(control))}.</p>
<p><span class="kind">Asked:</span> ${renderProse(control.requirement)}</p>
${control.contribution === '' ? '' : `<p><span class="kind">Here:</span> ${renderProse(control.contribution)}</p>`}
${elements.length === 0 ? '' : renderElements(control, window)}
${evidence.counts.length === 0 ? '' : renderEvidence(control)}
${evidence.sample_event_ids.length === 0 ? '' : `<p><span class="kind">Sample events:</span> ${evidence.sample_event_ids.map(renderCode).join(', ')}</p>`}
${gaps.length === 0 ? '' : `<p class="kind">Gaps:</p><ul>${gaps.map((gap) => renderGap(gap, window)).join('')}</ul>`}
${settings.length === 0 ? '' : `<p><span class="kind">Settings to check:</span> ${settings.map(renderCode).join(', ')}</p>`}
${permissions.length === 0 ? '' : `<p><span class="kind">Permissions:</span> ${permissions.map(renderCode).join(', ')}</p>`}
</article>`.replace(/\n{2,}/g, '\n');
}

function renderElements({ elements }: ControlReport, window: ComplianceReport['window']): string {
  const rows = elements.map((each) => [
    `${each.kind === 'rule' ? renderCode(each.name) : escapeHtml(each.name)}${each.tenant_id === null ? '' : ` (${escapeHtml(each.tenant_id)})`}`,
    renderProse(each.detail),
    escapeHtml(formatStates(each, window)),
  ]);
  return renderTable(['Carried by', 'Effect', 'When'], rows);
}

function renderEvidence({ evidence }: ControlReport): string {
  const rows = evidence.counts.map((each) => [
    `${each.kind} ${renderCode(each.name)}`,
    groupDigits(each.events),
    escapeHtml(formatActions(each.actions)),
    `<span class="time">${formatUtcTime(each.first)}</span><br><span class="time">${formatUtcTime(each.last)}</span>`,
  ]);
  return renderTable(['Evidence', 'Events', 'Outcome', 'First and last'], rows);
}

function renderGap(gap: ControlGap, window: ComplianceReport['window']): string {
  const span = formatSpan(gap, window);
  return `<li><span class="kind">${GAP_WORDS[gap.kind]}:</span> ${renderProse(formatGapMessage(gap))}${span === '' ? '' : ` <span class="soft">(${span})</span>`}</li>`;
}

function renderPolicies({ policies, changes }: ComplianceReport): string {
  const rows = policies.map((each) => [
    renderCode(each.policy_hash),
    each.saved
      ? `${each.rules} rules (${each.monitored_rules} in monitor mode), ${each.contracts} contracts, ${each.identities} identities`
      : 'no longer saved',
    each.intervals
      .map(({ since, until }) => `${formatUtcTime(since)} to ${formatUtcTime(until)}`)
      .join('<br>'),
  ]);
  const changed = changes.map((each) => [
    `${renderCode(each.kind)}${each.done ? '' : ' (refused)'}`,
    formatUtcTime(each.timestamp),
    escapeHtml(each.caller_id),
    renderCode(each.event_id),
  ]);
  return `<h2>Policies that decided</h2>
${renderTable(['Policy', 'Content', 'Active'], rows)}
${changed.length === 0 ? '<p>No change of the policy was recorded in the window.</p>' : renderTable(['Change', 'Time', 'By', 'Event'], changed)}`;
}

function renderJournal({ journal, evidence }: ComplianceReport): string {
  const rows = journal.chains.map(({ writer, checkpoint, covers_window }) => [
    renderCode(writer),
    checkpoint === null ? 'none' : formatUtcTime(checkpoint.timestamp),
    checkpoint === null
      ? ''
      : `record ${checkpoint.seq}, ${renderCode(checkpoint.record_hash)}<br>key ${renderCode(checkpoint.key_id)}, signature ${renderCode(checkpoint.signature)}`,
    covers_window ? 'yes' : 'no: newer events are not signed yet',
  ]);
  return `<h2>Journal</h2>
<p>Oldest event that is kept: ${journal.oldest_event === null ? 'none' : formatUtcTime(journal.oldest_event)}. <code>customshouse audit verify</code> checks the chains.</p>
${renderTable(['Chain', 'Checkpoint', 'Signed', 'Covers the window'], rows)}
<p><span class="kind">Sample events:</span> ${evidence.sample_event_ids.map(renderCode).join(', ') || 'none'}</p>
<p><span class="kind">Sample approval requests:</span> ${evidence.sample_approval_ids.map(renderCode).join(', ') || 'none'}</p>`;
}

/** Builds a table. The cells are HTML already. */
function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[]) => row.map((cell) => `<td>${cell}</td>`).join('');
  return `<table><thead><tr>${head.map((cell) => `<th>${cell}</th>`).join('')}</tr></thead><tbody>${rows
    .map((row) => `<tr>${cells(row)}</tr>`)
    .join('')}</tbody></table>`;
}

function getClass(status: ControlStatus): string {
  return status === 'outside this service' ? 'outside' : status;
}

function escapeHtml(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function renderCode(value: string): string {
  return `<code>${escapeHtml(value)}</code>`;
}

/** Escapes a sentence and shows names in backticks as code. */
function renderProse(sentence: string): string {
  return escapeHtml(sentence).replace(/`([^`]*)`/g, '<code>$1</code>');
}

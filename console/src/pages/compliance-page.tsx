import { useState } from 'react';
import type { ComplianceReport } from '../../../src/features/compliance/report-types.ts';
import { FRAMEWORK_IDS } from '../../../src/operations/compliance-frameworks.ts';
import { useMayCall } from '../api/session.ts';
import { useOperation } from '../api/use-operation.ts';
import { AdvicePanel } from '../components/advice-panel.tsx';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { EvidencePackDialog } from '../components/evidence-pack-dialog.tsx';
import { useAddressQuery } from '../components/filter-chips.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ControlPanel } from './compliance/control-panel.tsx';
import { ReportDownloads } from './compliance/report-downloads.tsx';
import { ReportSummaryPanel } from './compliance/report-summary.tsx';

const WINDOWS = [
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
  ['90d', 'Last 90 days'],
  ['365d', 'Last year'],
] as const;

/** A compliance report: for each control of a framework what was enforced, the evidence, and the gaps. */
export function CompliancePage() {
  const [query, change] = useAddressQuery();
  const mayCall = useMayCall();
  const [isPacking, setPacking] = useState(false);
  const framework = FRAMEWORK_IDS.find((id) => id === query.framework) ?? FRAMEWORK_IDS[0];
  const last = query.last ?? '30d';
  const input = { framework, last, ...(query.tenant_id !== undefined && { tenant_id: query.tenant_id }) };
  const answer = useOperation('complianceReport', { ...input, format: 'json' });
  const report = answer.data as ComplianceReport | undefined;
  return (
    <div className="page-body">
      <PageHeader
        title="Compliance"
        lead="What the service enforced in a window, the evidence for it, and the gaps."
      >
        <Choice
          label="Framework"
          value={framework}
          options={FRAMEWORK_IDS.map((id) => [id, id] as const)}
          onChange={(next) => change({ framework: next })}
        />
        <Choice label="Window" value={last} options={WINDOWS} onChange={(next) => change({ last: next })} />
        {mayCall('evidencePackStart') ? (
          <Button look="primary" onClick={() => setPacking(true)}>
            Make an evidence pack
          </Button>
        ) : null}
      </PageHeader>
      <AdvicePanel
        key={framework}
        operation="intelligenceCompliance"
        input={{ framework }}
        title="Rules that close gaps"
        label="Propose rules"
        hint="Sends the controls of the framework and the names of rules to the configured model. Each proposal is compiled, linted and replayed."
      />
      <ErrorNote error={answer.error} />
      {report === undefined ? (
        answer.isPending ? (
          <p className="muted">Reading the audit log …</p>
        ) : (
          <EmptyState
            title="There is no report."
            command={`customshouse compliance report --framework ${framework} --since ${last}`}
          >
            This command makes the same report next to the audit log.
          </EmptyState>
        )
      ) : (
        <>
          <ReportDownloads input={input} />
          <ReportSummaryPanel report={report} />
          {report.controls.map((control) => (
            <ControlPanel key={control.control_id} control={control} last={last} />
          ))}
        </>
      )}
      {isPacking ? (
        <EvidencePackDialog framework={framework} last={last} onClose={() => setPacking(false)} />
      ) : null}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <select
      className="select"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.some(([known]) => known === value) ? null : <option value={value}>{value}</option>}
      {options.map(([id, text]) => (
        <option key={id} value={id}>
          {text}
        </option>
      ))}
    </select>
  );
}

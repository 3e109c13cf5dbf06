import { useState } from 'react';
import { ALERT_GROUP_FIELDS, ALERT_SOURCES } from '../../../../src/features/alerts/rule-schema.ts';
import type { OperationInput, OperationOutput } from '../../api/client.ts';
import { useOperationCall } from '../../api/use-operation.ts';
import { CallDialog } from '../../components/call-dialog.tsx';
import { ChoiceField, Choices } from '../../components/choice-field.tsx';
import { splitList, TextField } from '../../components/text-field.tsx';

export type AlertRuleEntry = OperationOutput<'alertRulesList'>['rules'][number];
type RuleInput = OperationInput<'alertRulesSave'>;

/** The form: every field as text or as a list. */
interface RuleForm {
  readonly rule_id: string;
  readonly name: string;
  readonly source: string;
  readonly threshold: string;
  readonly window: string;
  readonly after: string;
  readonly severity: string;
  readonly cooldown: string;
  readonly tenant_id: string;
  readonly tags: string;
  readonly policies: string;
  readonly agents: string;
  readonly tools: string;
  readonly tenants: string;
  readonly actions: readonly string[];
  readonly boundaries: readonly string[];
  readonly severities: readonly string[];
  readonly group_by: readonly string[];
  readonly channels: readonly string[];
  readonly time_zone: string;
  readonly quiet_from: string;
  readonly quiet_to: string;
  readonly is_enabled: boolean;
}

const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const;
const ACTIONS = ['allow', 'flag', 'redact', 'require_approval', 'block'];
const BOUNDARIES = ['input', 'output', 'action', 'memory'];
const DURATION = '[1-9][0-9]{0,5}[smhd]';
/** Sources for which a rule says how long to wait. */
const WAITING_SOURCES = ['approvals_waiting', 'hooks_silent'];

interface AlertRuleDialogProps {
  /** The rule to change; `null` for a new one. */
  readonly rule: AlertRuleEntry | null;
  readonly channels: OperationOutput<'alertRulesList'>['channels'];
  readonly onClose: () => void;
}

/** Adds a rule, or changes a saved one. */
export function AlertRuleDialog({ rule, channels, onClose }: AlertRuleDialogProps) {
  const save = useOperationCall('alertRulesSave', ['alertRulesList']);
  const [form, setForm] = useState<RuleForm>(() => readForm(rule));
  const change = (changes: Partial<RuleForm>) => setForm({ ...form, ...changes });
  return (
    <CallDialog
      title={rule === null ? 'Add an alert rule' : `Change ${rule.rule_id}`}
      action="Save rule"
      call={save}
      input={buildInput(form, rule)}
      onClose={onClose}
    >
      <TextField
        label="ID: lower-case letters, digits and . _ -"
        value={form.rule_id}
        onChange={(ruleId) => change({ rule_id: ruleId })}
        pattern="[a-z0-9][a-z0-9._\-]*"
        maxLength={64}
        required
        readOnly={rule !== null}
      />
      <TextField
        label="Name"
        value={form.name}
        onChange={(name) => change({ name })}
        maxLength={200}
        required
      />
      <ChoiceField
        label="Counts"
        value={form.source}
        onChange={(source) => change({ source })}
        choices={ALERT_SOURCES.map((source) => [source, source.replaceAll('_', ' ')])}
      />
      <ThresholdFields form={form} change={change} />
      <ChoiceField
        label="Severity"
        value={form.severity}
        onChange={(severity) => change({ severity })}
        choices={SEVERITIES.map((severity) => [severity, severity])}
      />
      <Choices
        label="Channels"
        options={[...new Set([...channels.map(({ name }) => name), ...form.channels])]}
        chosen={form.channels}
        onChange={(chosen) => change({ channels: chosen })}
      />
      <FilterFields form={form} change={change} />
      <TimeFields form={form} change={change} is_complex={hasSeveralPeriods(rule)} />
      <label className="check">
        <input
          type="checkbox"
          checked={form.is_enabled}
          onChange={() => change({ is_enabled: !form.is_enabled })}
        />
        The rule is evaluated
      </label>
    </CallDialog>
  );
}

interface FieldsProps {
  readonly form: RuleForm;
  readonly change: (changes: Partial<RuleForm>) => void;
}

function ThresholdFields({ form, change }: FieldsProps) {
  return (
    <div className="field-row">
      <TextField
        label="Fires at"
        type="number"
        value={form.threshold}
        onChange={(threshold) => change({ threshold })}
        required
      />
      <TextField
        label="Within (30s, 15m, 7d)"
        value={form.window}
        onChange={(window) => change({ window })}
        pattern={DURATION}
        required
      />
      <TextField
        label="Not again for"
        value={form.cooldown}
        onChange={(cooldown) => change({ cooldown })}
        pattern={`0[smhd]|${DURATION}`}
        required
      />
      {WAITING_SOURCES.includes(form.source) ? (
        <TextField
          label="After; empty for the default"
          value={form.after}
          onChange={(after) => change({ after })}
          pattern={DURATION}
        />
      ) : null}
    </div>
  );
}

function FilterFields({ form, change }: FieldsProps) {
  return (
    <details>
      <summary>Filters and groups</summary>
      <div className="stack">
        <p className="hint">Lists are separated by commas. A rule counts what matches every filled list.</p>
        <TextField label="Data tags" value={form.tags} onChange={(tags) => change({ tags })} />
        <TextField label="Agents" value={form.agents} onChange={(agents) => change({ agents })} />
        <TextField label="Tools" value={form.tools} onChange={(tools) => change({ tools })} />
        <TextField
          label="Policy rules that decided"
          value={form.policies}
          onChange={(policies) => change({ policies })}
        />
        <TextField
          label="Tenants of the events"
          value={form.tenants}
          onChange={(tenants) => change({ tenants })}
        />
        <Choices
          label="Actions"
          options={ACTIONS}
          chosen={form.actions}
          onChange={(actions) => change({ actions })}
        />
        <Choices
          label="Boundaries"
          options={BOUNDARIES}
          chosen={form.boundaries}
          onChange={(boundaries) => change({ boundaries })}
        />
        <Choices
          label="Severities of findings"
          options={SEVERITIES}
          chosen={form.severities}
          onChange={(severities) => change({ severities })}
        />
        <Choices
          label="Count apart for each (four at most)"
          options={ALERT_GROUP_FIELDS}
          chosen={form.group_by}
          onChange={(groupBy) => change({ group_by: groupBy })}
        />
        <TextField
          label="Tenant of the rule; empty for a rule of all tenants"
          value={form.tenant_id}
          onChange={(tenantId) => change({ tenant_id: tenantId })}
          maxLength={256}
        />
      </div>
    </details>
  );
}

function TimeFields({ form, change, is_complex }: FieldsProps & { readonly is_complex: boolean }) {
  return (
    <details>
      <summary>Quiet hours</summary>
      {is_complex ? (
        <p className="hint">This rule has several periods. They stay as they are.</p>
      ) : (
        <div className="field-row">
          <TextField
            label="From"
            type="time"
            value={form.quiet_from}
            onChange={(quietFrom) => change({ quiet_from: quietFrom })}
          />
          <TextField
            label="To"
            type="time"
            value={form.quiet_to}
            onChange={(quietTo) => change({ quiet_to: quietTo })}
          />
          <TextField
            label="Time zone"
            value={form.time_zone}
            onChange={(timeZone) => change({ time_zone: timeZone })}
            pattern="[A-Za-z0-9_+\/\-]+"
            maxLength={64}
          />
        </div>
      )}
    </details>
  );
}

/** Returns true if the schedule has more than the form can show: it is then saved as it is. */
function hasSeveralPeriods(rule: AlertRuleEntry | null): boolean {
  const periods = rule?.schedule?.quiet_hours ?? [];
  return periods.length > 1 || periods.some(({ days }) => days !== undefined);
}

function readForm(rule: AlertRuleEntry | null): RuleForm {
  const filters = rule?.filters;
  const text = (list: readonly string[] | undefined) => (list ?? []).join(', ');
  const [quiet] = rule?.schedule?.quiet_hours ?? [];
  return {
    rule_id: rule?.rule_id ?? '',
    name: rule?.name ?? '',
    source: rule?.source ?? 'violations',
    threshold: String(rule?.threshold ?? 1),
    window: rule?.window ?? '15m',
    after: rule?.after ?? '',
    severity: rule?.severity ?? 'high',
    cooldown: rule?.cooldown ?? '1m',
    tenant_id: rule?.tenant_id ?? '',
    tags: text(filters?.tags),
    policies: text(filters?.policies),
    agents: text(filters?.agents),
    tools: text(filters?.tools),
    tenants: text(filters?.tenants),
    actions: filters?.actions ?? [],
    boundaries: filters?.boundaries ?? [],
    severities: filters?.severities ?? [],
    group_by: rule?.group_by ?? [],
    channels: rule?.channels ?? ['file'],
    time_zone: rule?.schedule?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    quiet_from: quiet?.from ?? '',
    quiet_to: quiet?.to ?? '',
    is_enabled: rule?.enabled ?? true,
  };
}

function buildInput(form: RuleForm, rule: AlertRuleEntry | null): RuleInput {
  const { quiet_from: from, quiet_to: to, time_zone } = form;
  const written = from !== '' && to !== '' ? { time_zone, quiet_hours: [{ from, to }] } : null;
  const schedule = hasSeveralPeriods(rule) ? rule?.schedule : written;
  const input = {
    rule_id: form.rule_id,
    name: form.name,
    source: form.source,
    threshold: Number(form.threshold),
    window: form.window,
    severity: form.severity,
    cooldown: form.cooldown,
    filters: {
      tags: splitList(form.tags),
      policies: splitList(form.policies),
      agents: splitList(form.agents),
      tools: splitList(form.tools),
      tenants: splitList(form.tenants),
      actions: form.actions,
      boundaries: form.boundaries,
      severities: form.severities,
    },
    group_by: form.group_by,
    channels: form.channels,
    enabled: form.is_enabled,
    ...(form.after !== '' && WAITING_SOURCES.includes(form.source) && { after: form.after }),
    ...(form.tenant_id !== '' && { tenant_id: form.tenant_id }),
    ...(schedule !== null && schedule !== undefined && { schedule }),
  };
  // The service checks every value again; the lists of the form have its enums as their options.
  return input as unknown as RuleInput;
}

import { Link, useParams } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import type { OperationOutput } from '../api/client.ts';
import { useMayCall } from '../api/session.ts';
import { useOperation } from '../api/use-operation.ts';
import { AdvicePanel } from '../components/advice-panel.tsx';
import { AllowDetectorDialog } from '../components/allow-detector-dialog.tsx';
import { AllowlistDialog } from '../components/allowlist-dialog.tsx';
import { Badge, Tags } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { CaseDraft } from '../components/case-draft.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { MaskedValue } from '../components/masked-value.tsx';
import { PageHeader, Panel } from '../components/page-header.tsx';
import { Prose } from '../components/prose.tsx';
import { RuleDraft } from '../components/rule-draft.tsx';
import { RuleTrace } from '../components/rule-trace.tsx';
import { SafeText } from '../components/safe-text.tsx';
import { ShownAction } from '../components/shown-action.tsx';
import { Time } from '../components/time.tsx';

type Incident = OperationOutput<'dashboardIncident'>;

/** Actions that stop a call, which an operator can allow from then on. */
const STOPPED: ReadonlySet<string> = new Set(['block', 'require_approval']);

/** Explains one decision: the rules that were evaluated, what was found, and the smallest change that would pass. */
export function IncidentPage() {
  const { event_id } = useParams({ strict: false }) as { event_id: string };
  const { data, error } = useOperation('dashboardIncident', { event_id });
  if (error !== null)
    return (
      <div className="page-body">
        <PageHeader title="Incident" />
        <ErrorNote error={error} />
        <EmptyState
          title="The event cannot be shown."
          command={`customshouse logs --event-id ${event_id.replace(/[^\w-]/g, '')}`}
        >
          It may be outside your tenants, or older than the audit log keeps.
        </EmptyState>
      </div>
    );
  if (data === undefined)
    return (
      <div className="page-body" role="status">
        Loading …
      </div>
    );
  return <IncidentBody incident={data} />;
}

function IncidentBody({ incident }: { readonly incident: Incident }) {
  const { event } = incident;
  const [hasDraft, setDraft] = useState(false);
  const [hasCase, setCase] = useState(false);
  const [isAllowing, setAllowing] = useState(false);
  const mayCall = useMayCall();
  return (
    <div className="page-body">
      <PageHeader title="Incident" lead={<Prose text={event.reason} />}>
        <Badge value={event.action} />
        {STOPPED.has(event.action) && mayCall('allowlistDetectorAdd') ? (
          <Button onClick={() => setAllowing(true)}>Allow …</Button>
        ) : null}
        {incident.action_shown !== null && mayCall('policyCase') ? (
          <DraftToggle label="This was wrong" is_open={hasCase} onToggle={setCase} />
        ) : null}
        {mayCall('policiesReload') ? (
          <DraftToggle label="Make a rule" is_open={hasDraft} onToggle={setDraft} />
        ) : null}
      </PageHeader>
      {hasDraft ? <RuleDraft event={event} /> : null}
      {hasCase ? <CaseDraft event={event} /> : null}
      {isAllowing ? <AllowDetectorDialog event={event} onClose={() => setAllowing(false)} /> : null}
      <div className="columns wide-left">
        <div className="stack">
          {incident.action_shown === null ? null : (
            <Panel title="Call">
              <ShownAction text={incident.action_shown} marks={incident.action_marks} />
              {incident.effects.map((effect) => (
                <p key={effect}>
                  <Prose text={effect} />
                </p>
              ))}
            </Panel>
          )}
          <AdvicePanel
            operation="dashboardIntelligenceExplain"
            input={{ event_id: event.event_id }}
            title="Advice"
            label="Explain"
            hint="Sends the metadata of this event and of up to five around it to the configured model, never their text."
          />
          <Explanation incident={incident} />
          <Findings incident={incident} />
        </div>
        <div className="stack">
          <Facts incident={incident} />
          <Origins recorded={event.metadata.labels} />
          <Timeline incident={incident} />
        </div>
      </div>
    </div>
  );
}

const ORIGIN = /^(.+?):([a-z][\w.-]*)(?::(evt_[0-9a-f]+))?$/;

/** Shows the labels of the call's arguments, and the events in which the session saw their values first. */
function Origins({ recorded }: { readonly recorded: unknown }) {
  const rows = (Array.isArray(recorded) ? recorded : []).flatMap((each) => {
    const [whole, argument, label, eventId] = ORIGIN.exec(String(each)) ?? [];
    return whole === undefined ? [] : [{ whole, argument, label, event_id: eventId }];
  });
  if (rows.length === 0) return null;
  return (
    <Panel title="From where">
      <dl className="facts">
        {rows.map(({ whole, argument, label, event_id }) => (
          <Fragment key={whole}>
            <dt>
              <SafeText text={argument ?? ''} />
            </dt>
            <dd>
              {label}{' '}
              {event_id === undefined ? null : (
                <Link to="/incidents/$event_id" params={{ event_id }} search={{}}>
                  first seen
                </Link>
              )}
            </dd>
          </Fragment>
        ))}
      </dl>
    </Panel>
  );
}

interface DraftToggleProps {
  readonly label: string;
  readonly is_open: boolean;
  readonly onToggle: (isOpen: boolean) => void;
}

/** Opens and closes a draft below the header. */
function DraftToggle({ label, is_open, onToggle }: DraftToggleProps) {
  return (
    <Button aria-expanded={is_open} onClick={() => onToggle(!is_open)}>
      {label}
    </Button>
  );
}

function Facts({ incident }: { readonly incident: Incident }) {
  const { event, policy, approval_request_id } = incident;
  return (
    <Panel title="Decision">
      <dl className="facts">
        <dt>Time</dt>
        <dd>
          <Time at={event.timestamp} form="date" />{' '}
          <span className="muted">
            (<Time at={event.timestamp} />)
          </span>
        </dd>
        <dt>Agent</dt>
        <dd>
          <Link to="/agents/$agent_id" params={{ agent_id: event.agent_id }} search={{}}>
            <SafeText text={event.agent_id} />
          </Link>
        </dd>
        <dt>Tool</dt>
        <dd>
          <SafeText text={event.tool_name} />
        </dd>
        <dt>Boundary</dt>
        <dd>{event.boundary}</dd>
        <dt>Rule</dt>
        <dd>
          <SafeText text={event.policy_name} />
        </dd>
        <dt>Tenant</dt>
        <dd>
          <SafeText text={event.tenant_id} />
        </dd>
        <dt>Session</dt>
        <dd>
          {event.session_id === null ? (
            <span className="muted">–</span>
          ) : (
            <Link to="/sessions/$session_id" params={{ session_id: event.session_id }} search={{}}>
              <SafeText text={event.session_id} />
            </Link>
          )}
        </dd>
        <dt>Caller</dt>
        <dd>
          <SafeText text={event.caller_id} />
        </dd>
        <dt>Coverage</dt>
        <dd>{event.coverage}</dd>
        <dt>Policy</dt>
        <dd>
          <code title={policy.policy_hash}>{policy.policy_hash.replace('sha256:', '').slice(0, 12)}</code>{' '}
          <span className="muted">
            {policy.is_active ? 'active' : policy.is_stored ? 'an earlier version' : 'no longer stored'}
          </span>
        </dd>
        <dt>Active policy</dt>
        <dd>
          <Replay replay={incident.replay} />
        </dd>
        <dt>Event</dt>
        <dd>
          <code>{event.event_id}</code>
        </dd>
        {approval_request_id === null ? null : (
          <>
            <dt>Approval</dt>
            <dd>
              <Link to="/approvals/$request_id" params={{ request_id: approval_request_id }} search={{}}>
                {approval_request_id}
              </Link>
            </dd>
          </>
        )}
      </dl>
    </Panel>
  );
}

/** The decision of the active policy on this crossing. */
function Replay({ replay }: { readonly replay: Incident['replay'] }) {
  if (replay.change === 'unknown')
    return <span className="muted">cannot be replayed: the event does not determine the decision</span>;
  return (
    <>
      would decide <Badge value={replay.action} />{' '}
      <span className="muted">
        {replay.change === 'same' ? 'as before' : `${replay.change} than before`}
        {replay.rule === null ? null : (
          <>
            {' '}
            (<SafeText text={replay.rule} />)
          </>
        )}
      </span>
    </>
  );
}

function Findings({ incident }: { readonly incident: Incident }) {
  return (
    <Panel title="What was found">
      {incident.findings.length === 0 ? (
        <p className="muted">No detector found anything. The rules acted on the call itself.</p>
      ) : (
        <ul className="findings">
          {incident.findings.map(({ tags, severity, count, example, is_classified }) => (
            <li key={`${tags.join(' ')} ${severity} ${example} ${is_classified}`}>
              <Badge value={severity} />
              <MaskedValue label={tags[0] ?? 'value'} />
              <Tags tags={tags} />
              <span className="muted">
                {count === 1 ? 'once' : `${count} times`}
                {example ? ', a documented example' : ''}
                {is_classified ? ', found by a classifier' : ''}
              </span>
            </li>
          ))}
        </ul>
      )}
      <FindingPlaces incident={incident} />
      <p className="hint">The matched text is not stored. Only its kind and place reach the audit log.</p>
    </Panel>
  );
}

/** The places of the findings, each with a button that allowlists its value. */
function FindingPlaces({ incident }: { readonly incident: Incident }) {
  const [chosen, setChosen] = useState<number | null>(null);
  const mayCall = useMayCall();
  const { event, finding_places } = incident;
  if (finding_places.length === 0) return null;
  return (
    <>
      <table className="plain places">
        <thead>
          <tr>
            <th scope="col">Detector</th>
            <th scope="col">Text</th>
            <th scope="col">Characters</th>
            <th scope="col">
              <span className="visually-hidden">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {finding_places.map(({ finding_index, rule_id, text_index, start, end, can_allowlist }) => (
            <tr key={finding_index}>
              <td>
                <SafeText text={rule_id} />
              </td>
              <td>{text_index + 1}</td>
              <td>
                {start}–{end}
              </td>
              <td>
                {can_allowlist && mayCall('allowlistAdd') ? (
                  <Button is_small onClick={() => setChosen(finding_index)}>
                    Allowlist …
                  </Button>
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {chosen === null ? null : (
        <AllowlistDialog event={event} finding_index={chosen} onClose={() => setChosen(null)} />
      )}
    </>
  );
}

function Explanation({ incident }: { readonly incident: Incident }) {
  const { explanation, explanation_reason } = incident;
  if (explanation === null || explanation === undefined)
    return (
      <Panel title="Why">
        <p>
          <Prose text={explanation_reason} />
        </p>
      </Panel>
    );
  return (
    <>
      <Counterfactual explanation={explanation} />
      <RuleTrace evaluations={explanation.evaluations ?? []} />
    </>
  );
}

function Counterfactual({ explanation }: { readonly explanation: NonNullable<Incident['explanation']> }) {
  const { counterfactual } = explanation;
  if (counterfactual === null || counterfactual === undefined) return null;
  return (
    <Panel title="Smallest change that would pass" aside={<Badge value={counterfactual.result?.action} />}>
      <ul className="changes">
        {counterfactual.changes?.map(({ kind, rule, change }) => (
          <li key={`${kind} ${rule} ${change}`}>
            <Prose text={change} />{' '}
            <span className="muted">
              (<SafeText text={rule} />)
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Timeline({ incident }: { readonly incident: Incident }) {
  return (
    <Panel title="The session around it">
      <ol className="timeline">
        {incident.timeline.map((event) => (
          <li
            key={event.event_id}
            className={event.event_id === incident.event.event_id ? 'current' : undefined}
          >
            <Time at={event.timestamp} form="time" />
            <Badge value={event.action} />
            <Link
              to="/incidents/$event_id"
              params={{ event_id: event.event_id }}
              search={{}}
              aria-current={event.event_id === incident.event.event_id ? 'true' : undefined}
            >
              <SafeText text={event.tool_name ?? event.boundary} />
            </Link>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

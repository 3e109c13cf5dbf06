import type { OperationOutput } from '../api/client.ts';
import { Badge } from './badge.tsx';
import { Panel } from './page-header.tsx';
import { Prose } from './prose.tsx';
import { SafeText } from './safe-text.tsx';

type Explanation = NonNullable<OperationOutput<'dashboardIncident'>['explanation']>;
type Evaluation = NonNullable<Explanation['evaluations']>[number];

const OUTCOME_WORDS: Readonly<Record<string, string>> = {
  matched: 'matched',
  monitored: 'matched, monitor mode',
  not_matched: 'did not match',
  not_reached: 'not reached',
};

/** Shows every rule that was evaluated, for each thing that was evaluated. The one that decided comes first. */
export function RuleTrace({ evaluations }: { readonly evaluations: readonly Evaluation[] }) {
  const ordered = evaluations.toSorted((a, b) => Number(b.decisive ?? false) - Number(a.decisive ?? false));
  return (
    <Panel title="Why">
      {ordered.length === 0 ? <p className="muted">No rule had to be evaluated.</p> : null}
      {ordered.map((evaluation) => (
        <details
          key={`${evaluation.subject} ${evaluation.tag} ${evaluation.origin}`}
          className="evaluation"
          open={evaluation.decisive === true}
        >
          <summary>
            <Badge value={evaluation.action} />
            <span>
              {evaluation.tag === null || evaluation.tag === undefined ? (
                evaluation.subject
              ) : (
                <code>{evaluation.tag}</code>
              )}
            </span>
            <SafeText text={evaluation.rule} />
            {evaluation.decisive === true ? <strong className="decided">decided</strong> : null}
          </summary>
          <p>
            <Prose text={evaluation.reason} />
          </p>
          <ol className="trace">
            {evaluation.rule_trace?.map((entry, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a rule can appear twice, and the trace never changes.
              <li key={index} className={entry.outcome}>
                <span className="trace-rule">
                  <SafeText text={entry.rule} />
                </span>
                <span className="trace-outcome">{OUTCOME_WORDS[entry.outcome ?? ''] ?? entry.outcome}</span>
                <span className="trace-reason">
                  <Prose text={entry.reason} />
                </span>
              </li>
            ))}
          </ol>
        </details>
      ))}
    </Panel>
  );
}

import type { OperationInput, OperationOutput } from '../api/client.ts';
import { useAdvisorEnabled, useMayCall } from '../api/session.ts';
import { useOperationCall } from '../api/use-operation.ts';
import { Badge } from './badge.tsx';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';
import { Panel } from './page-header.tsx';
import { SafeText } from './safe-text.tsx';

type AdvisorOperation = 'dashboardIntelligenceExplain' | 'intelligenceCompliance' | 'intelligenceRecommend';
type AdvisorResult = OperationOutput<AdvisorOperation>;

interface AdvicePanelProps<Name extends AdvisorOperation> {
  readonly operation: Name;
  readonly input: OperationInput<Name>;
  readonly title: string;
  /** The text of the button. */
  readonly label: string;
  /** One sentence about the data that is sent. */
  readonly hint: string;
}

/** Asks an advisor on request, and shows its answer as text. Absent if no advisor is configured, or the user may not ask. */
export function AdvicePanel<Name extends AdvisorOperation>(props: AdvicePanelProps<Name>) {
  const { operation, input, title, label, hint } = props;
  const isEnabled = useAdvisorEnabled();
  const mayCall = useMayCall();
  const advice = useOperationCall(operation, []);
  if (!isEnabled || !mayCall(operation)) return null;
  const button = (
    <Button disabled={advice.isPending} onClick={() => advice.mutate(input)}>
      {advice.isPending ? 'Asking the model …' : label}
    </Button>
  );
  return (
    <Panel title={title} aside={button}>
      <ErrorNote error={advice.error} />
      {advice.data === undefined ? <p className="hint">{hint}</p> : <Advice result={advice.data} />}
    </Panel>
  );
}

interface Replay {
  readonly since: string;
  readonly same: number;
  readonly stricter: number;
  readonly less_strict: number;
  readonly unknown: number;
}

interface Effect {
  readonly weakens?: boolean;
  readonly lets_through?: readonly string[];
  readonly changes?: readonly string[];
  readonly replay?: Replay | null;
}

interface Review {
  readonly together?: Effect | null;
}

function Advice({ result }: { readonly result: AdvisorResult }) {
  const review = (result.metadata as { readonly review?: Review }).review?.together;
  return (
    <div className="stack" role="status">
      <div className="note">
        <SafeText text={result.summary} has_lines />
      </div>
      {review ? <EffectLines effect={review} /> : null}
      {review?.weakens === true ? (
        <div className="note bad">
          <p>This proposal weakens the policy. It would allow:</p>
          <ul>
            {review.lets_through?.map((line) => (
              <li key={line}>
                <SafeText text={line} />
              </li>
            ))}
          </ul>
        </div>
      ) : null}
      {Object.entries(result.artifacts).map(([path, text]) => (
        <details key={path}>
          <summary>
            <code>{path}</code>
          </summary>
          <pre>
            <SafeText text={text} has_lines />
          </pre>
        </details>
      ))}
      <p className="hint">
        <Badge value="advice" /> Written by {result.model_used} from metadata. Nothing was changed.
      </p>
    </div>
  );
}

/** The records that a proposal changes, and the recorded decisions under it. */
function EffectLines({ effect: { changes = [], replay } }: { readonly effect: Effect }) {
  return (
    <ul>
      {changes.map((line) => (
        <li key={line}>
          <SafeText text={line} />
        </li>
      ))}
      {replay ? (
        <li>
          Recorded decisions of {replay.since}: {replay.same} the same, {replay.stricter} stricter,{' '}
          {replay.less_strict} less strict, {replay.unknown} unknown
        </li>
      ) : null}
    </ul>
  );
}

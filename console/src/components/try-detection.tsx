import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { type ApiError, callOperation, type OperationOutput } from '../api/client.ts';
import { Badge, Tags } from './badge.tsx';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';
import { Panel } from './page-header.tsx';
import { Prose } from './prose.tsx';
import { SafeText } from './safe-text.tsx';

type ScanAnswer = OperationOutput<'detectionTry'>;

const TEXT_MAX = 20_000;
const STORAGE_KEY = 'console-try-detection';

interface ScanResultProps {
  readonly answer: Pick<ScanAnswer, 'decision' | 'reason' | 'rule' | 'violations'>;
  /** `null` if the findings have no places in one text. */
  readonly text: string | null;
}

/** A box to try a text. It stays in the session storage of the browser, and ends with the tab. */
export function TryDetection() {
  const [text, setText] = useState(() => sessionStorage.getItem(STORAGE_KEY) ?? '');
  const scan = useMutation<{ readonly answer: ScanAnswer; readonly text: string }, ApiError, string>({
    mutationFn: async (asked) => ({
      answer: await callOperation('detectionTry', { text: asked }),
      text: asked,
    }),
  });
  function change(next: string) {
    sessionStorage.setItem(STORAGE_KEY, next);
    setText(next);
  }
  function send(event: FormEvent) {
    event.preventDefault();
    if (text !== '') scan.mutate(text);
  }
  return (
    <Panel title="Try a text">
      <form className="stack" onSubmit={send}>
        <label className="field">
          <span>Text, as an agent would send it</span>
          <textarea
            className="input code"
            rows={4}
            maxLength={TEXT_MAX}
            spellCheck={false}
            value={text}
            onChange={(event) => change(event.currentTarget.value)}
          />
        </label>
        <div className="table-bar">
          <Button type="submit" look="primary" disabled={scan.isPending || text === ''}>
            {scan.isPending ? 'Scanning …' : 'Scan the text'}
          </Button>
          <Button look="quiet" onClick={() => change('')}>
            Clear
          </Button>
          <span className="hint">
            The text stays in this tab. The audit log gets an event without the text, and no figure counts it.
          </span>
        </div>
      </form>
      <ErrorNote error={scan.error} />
      {scan.data === undefined ? null : <ScanResult {...scan.data} />}
    </Panel>
  );
}

/** Shows a decision, and the findings in the text that was judged. */
export function ScanResult({ answer, text }: ScanResultProps) {
  return (
    <div className="stack scan-result" role="status">
      <p>
        <Badge value={answer.decision} /> <Prose text={answer.reason} />{' '}
        <span className="muted">
          (<SafeText text={answer.rule} />)
        </span>
      </p>
      {answer.violations.length === 0 ? null : (
        <>
          {text === null ? null : <div className="diff scanned">{markFindings(text, answer.violations)}</div>}
          <ul className="findings">
            {answer.violations.map((violation, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: findings of one answer never move.
              <li key={index}>
                <Badge value={violation.severity} />
                <strong>{violation.detector}</strong>
                <Tags tags={violation.tags} />
                <span className="muted">
                  {violation.rule_id}
                  {violation.source === 'classifier' ? ', found by a classifier' : ''}
                  {violation.start === undefined ? '' : `, characters ${violation.start} to ${violation.end}`}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** Marks the findings in a text. Positions count code points. */
function markFindings(text: string, violations: ScanAnswer['violations']): ReactNode[] {
  const points = Array.from(text);
  const spans = violations
    .flatMap(({ start, end }) =>
      typeof start === 'number' && typeof end === 'number' ? [{ start, end }] : [],
    )
    .toSorted((a, b) => a.start - b.start);
  const parts: ReactNode[] = [];
  let from = 0;
  for (const { start, end } of spans) {
    if (end <= from) continue;
    const begin = Math.max(start, from);
    if (begin > from)
      parts.push(<SafeText key={`t${from}`} text={points.slice(from, begin).join('')} has_lines />);
    parts.push(
      <mark key={`m${begin}`}>
        <SafeText text={points.slice(begin, end).join('')} has_lines />
      </mark>,
    );
    from = end;
  }
  if (from < points.length)
    parts.push(<SafeText key={`t${from}`} text={points.slice(from).join('')} has_lines />);
  return parts;
}

import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type ApiError, callOperation, type OperationOutput } from '../api/client.ts';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';
import { Panel } from './page-header.tsx';
import { Prose } from './prose.tsx';
import { TextField } from './text-field.tsx';
import { ScanResult } from './try-detection.tsx';

type ActionAnswer = OperationOutput<'actionTry'>;

interface TriedCall {
  readonly tool: string;
  readonly input: Record<string, unknown>;
}

/** A form to try a tool call, which is judged and never made. */
export function TryAction() {
  const [tool, setTool] = useState('Bash');
  const [text, setText] = useState('{"command": ""}');
  const [problem, setProblem] = useState<string | null>(null);
  const check = useMutation<ActionAnswer, ApiError, TriedCall>({
    mutationFn: (call) => callOperation('actionTry', call),
  });
  function send(event: FormEvent) {
    event.preventDefault();
    const input = parseArguments(text);
    setProblem(input === null ? 'The arguments are not a JSON object.' : null);
    if (input !== null) check.mutate({ tool, input });
  }
  return (
    <Panel title="Try a tool call">
      <form className="stack" onSubmit={send}>
        <TextField label="Tool" required maxLength={256} value={tool} onChange={setTool} />
        <label className="field">
          <span>Arguments, a JSON object</span>
          <textarea
            className="input code"
            rows={3}
            maxLength={20_000}
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <div className="table-bar">
          <Button type="submit" look="primary" disabled={check.isPending}>
            {check.isPending ? 'Deciding …' : 'Decide on the call'}
          </Button>
          <span className="hint">
            The call is not made and no approval is requested. The audit log gets an event without the
            arguments, and no figure counts it.
          </span>
        </div>
        {problem === null ? null : <p role="alert">{problem}</p>}
      </form>
      <ErrorNote error={check.error} />
      {check.data === undefined ? null : (
        <>
          <ScanResult answer={check.data} text={null} />
          {check.data.effects.map((effect) => (
            <p key={effect}>
              <Prose text={effect} />
            </p>
          ))}
        </>
      )}
    </Panel>
  );
}

function parseArguments(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

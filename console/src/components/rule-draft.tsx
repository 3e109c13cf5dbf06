import { useState } from 'react';
import { OpenInEditor } from '../pages/policies/open-in-editor.tsx';
import { CodeBlock } from './code-block.tsx';
import type { ConsoleEvent } from './event-columns.tsx';
import { Panel } from './page-header.tsx';
import { revealHidden } from './safe-text.tsx';

const ACTIONS = ['block', 'require_approval', 'redact', 'flag', 'allow'] as const;

/** Drafts a rule for calls like one event. Nothing changes until the text is part of a policy. */
export function RuleDraft({ event }: { readonly event: ConsoleEvent }) {
  const [action, setAction] = useState<(typeof ACTIONS)[number]>('require_approval');
  const text = draftRule(event, action);
  return (
    <Panel
      title="Draft of a rule"
      details_of={event.event_id}
      aside={
        <label className="inline-field">
          Action{' '}
          <select
            className="select small"
            value={action}
            onChange={(change) => setAction(change.currentTarget.value as (typeof ACTIONS)[number])}
          >
            {ACTIONS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      }
    >
      <div className="stack">
        <CodeBlock text={text} label="Draft of a rule" />
        <p className="hint">
          In monitor mode the rule records what it would do, and stops nothing. The editor replays it on
          recorded decisions before you save it. It can also be in <code>policies</code> of{' '}
          <code>service.yaml</code>.
        </p>
        <div>
          <OpenInEditor list="policies" text={text} />
        </div>
      </div>
    </Panel>
  );
}

/** Returns a rule as YAML. Names from outside are quoted JSON, which is YAML too, with hidden characters made visible. */
function draftRule(event: ConsoleEvent, action: string): string {
  const quote = (text: string) => JSON.stringify(revealHidden(text));
  const conditions = draftConditions(event).map((line) => `    ${line}`);
  return [
    `- name: ${action.replace('_', '-')}-${event.boundary}-${event.event_id.slice(-6)}`,
    `  boundary: ${event.boundary === 'memory' ? 'action' : event.boundary}`,
    ...(event.data_tags.length === 0 ? [] : [`  data_tags: [${event.data_tags.map(quote).join(', ')}]`]),
    '  condition:',
    ...conditions,
    `  action: ${action}`,
    '  reason: "Say why."',
    '  enforcement: monitor',
  ].join('\n');
}

/** A list of names reads `*` as a pattern, so a name that has one is compared in a condition. */
function draftConditions({ tool_name, agent_id }: ConsoleEvent): string[] {
  const quote = (text: string) => JSON.stringify(revealHidden(text));
  const names = [
    ...(tool_name === null ? [] : [{ list: 'tools', field: 'tool', name: tool_name }]),
    { list: 'agents', field: 'agent_id', name: agent_id },
  ];
  const equal = names.filter(({ name }) => name.includes('*'));
  return [
    ...names.filter(({ name }) => !name.includes('*')).map(({ list, name }) => `${list}: [${quote(name)}]`),
    ...(equal.length === 0
      ? []
      : [
          `when: ${JSON.stringify(equal.map(({ field, name }) => `${field} == ${quote(name)}`).join(' && '))}`,
        ]),
  ];
}

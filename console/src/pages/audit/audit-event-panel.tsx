import { Link } from '@tanstack/react-router';
import { CodeBlock } from '../../components/code-block.tsx';
import type { ConsoleEvent } from '../../components/event-columns.tsx';
import { Panel } from '../../components/page-header.tsx';
import { revealHidden, SafeText } from '../../components/safe-text.tsx';

/** Shows every field of one event as it was recorded. */
export function AuditEventPanel({ event }: { readonly event: ConsoleEvent }) {
  const { metadata, ...fields } = event;
  return (
    <Panel
      title="Event"
      aside={
        <Link to="/incidents/$event_id" params={{ event_id: event.event_id }} search={{}}>
          Why it was decided so
        </Link>
      }
    >
      <dl className="facts">
        {Object.entries(fields).map(([name, value]) => [
          <dt key={`${name} name`}>
            <code>{name}</code>
          </dt>,
          <dd key={name}>
            <SafeText text={Array.isArray(value) ? value.join(', ') : value === null ? null : `${value}`} />
          </dd>,
        ])}
      </dl>
      <CodeBlock text={JSON.stringify(metadata, revealStrings, 2)} label="Metadata of the event" />
    </Panel>
  );
}

function revealStrings(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? revealHidden(value) : value;
}

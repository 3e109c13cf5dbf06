import { Link } from '@tanstack/react-router';
import type { OperationOutput } from '../../api/client.ts';
import { SafeText } from '../../components/safe-text.tsx';

export type AlertEntry = OperationOutput<'alertsHistory'>['alerts'][number];

/** Shows the values by which a rule splits what it counts: `agent support-bot`. */
export function GroupValues({ group }: { readonly group: Readonly<Record<string, string | undefined>> }) {
  const entries = Object.entries(group);
  if (entries.length === 0) return <span className="muted">all together</span>;
  return (
    <span>
      {entries.map(([field, value], at) => (
        <span key={field}>
          {at === 0 ? '' : ', '}
          <span className="muted">{field}</span> <GroupValue field={field} value={value ?? ''} />
        </span>
      ))}
    </span>
  );
}

function GroupValue({ field, value }: { readonly field: string; readonly value: string }) {
  if (field !== 'request') return <SafeText text={value} />;
  return (
    <Link to="/approvals/$request_id" params={{ request_id: value }} search={{}}>
      <SafeText text={value} />
    </Link>
  );
}

/** Returns the values of a group as text, for sorting and export. */
export function formatGroup(group: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(group)
    .map(([field, value]) => `${field} ${value ?? ''}`)
    .join(', ');
}

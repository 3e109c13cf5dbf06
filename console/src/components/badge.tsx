/** The kind of a badge. Each has a sign of its own, so that colour is never the only difference. */
const TONES = {
  allow: ['good', '✓'],
  approved: ['good', '✓'],
  consumed: ['good', '✓'],
  healthy: ['good', '✓'],
  active: ['good', '✓'],
  pinned: ['good', '✓'],
  quarantined: ['watch', '⚑'],
  rejected: ['bad', '✕'],
  'not ready': ['bad', '✕'],
  'no answer': ['bad', '✕'],
  installed: ['good', '✓'],
  available: ['calm', '◌'],
  changed: ['watch', '⚑'],
  missing: ['bad', '✕'],
  ok: ['good', '✓'],
  failing: ['bad', '✕'],
  unchecked: ['calm', '◌'],
  off: ['calm', '◌'],
  modify: ['change', '✎'],
  redact: ['change', '✎'],
  flag: ['watch', '⚑'],
  firing: ['bad', '●'],
  acknowledged: ['watch', '◔'],
  silenced: ['calm', '◌'],
  resolved: ['good', '✓'],
  sent: ['good', '✓'],
  dead: ['bad', '✕'],
  pending: ['wait', '◷'],
  require_approval: ['wait', '◷'],
  block: ['bad', '✕'],
  denied: ['bad', '✕'],
  expired: ['calm', '◌'],
  cancelled: ['calm', '◌'],
  critical: ['bad', '▲'],
  high: ['bad', '△'],
  medium: ['watch', '◇'],
  low: ['calm', '▽'],
} as const;

const WORDS: Readonly<Record<string, string>> = { require_approval: 'needs approval', dead: 'given up' };

/** Shows an action, a decision, a severity or the status of an approval. */
export function Badge({ value }: { readonly value: string | null | undefined }) {
  if (value === null || value === undefined || value === '') return <span className="muted">–</span>;
  const [tone, sign] = Object.hasOwn(TONES, value)
    ? TONES[value as keyof typeof TONES]
    : (['calm', '·'] as const);
  return (
    <span className={`badge ${tone}`}>
      <span aria-hidden="true">{sign}</span>
      {WORDS[value] ?? value.replaceAll('_', ' ')}
    </span>
  );
}

/** Shows data tags, the first few at once. */
export function Tags({
  tags,
  max = 3,
}: {
  readonly tags: readonly string[] | undefined;
  readonly max?: number;
}) {
  if (tags === undefined || tags.length === 0) return <span className="muted">–</span>;
  const rest = tags.slice(max);
  return (
    <span className="tags">
      {tags.slice(0, max).map((tag) => (
        <code key={tag} className="tag" title={tag}>
          {tag}
        </code>
      ))}
      {rest.length === 0 ? null : (
        <span className="muted" title={rest.join(', ')}>
          +{rest.length}
        </span>
      )}
    </span>
  );
}

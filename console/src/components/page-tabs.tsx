import { Tabs } from 'radix-ui';
import type { ComponentType } from 'react';
import type { Permission } from '../../../src/runtime/config/permissions.ts';
import { useHasPermission } from '../api/session.ts';
import { useAddressQuery } from './filter-chips.tsx';

/** One part of a page. */
export interface PagePart {
  /** Its name in the address: `?part=users`. */
  readonly id: string;
  readonly title: string;
  /** The part is absent without this permission. */
  readonly permission: Permission | null;
  readonly Content: ComponentType;
}

interface PageTabsProps {
  readonly parts: readonly PagePart[];
  /** The parts fill the page's height and scroll inside. */
  readonly is_filled?: boolean;
}

/** Shows one part of a page at a time. The part is in the address. */
export function PageTabs({ parts, is_filled = false }: PageTabsProps) {
  const [query, change] = useAddressQuery();
  const hasPermission = useHasPermission();
  const shown = parts.filter(({ permission }) => permission === null || hasPermission(permission));
  const first = shown[0];
  if (first === undefined) return <p className="muted">Your roles show nothing here.</p>;
  const active = shown.find(({ id }) => id === query.part) ?? first;
  return (
    <Tabs.Root
      className={is_filled ? 'tab-root' : undefined}
      value={active.id}
      onValueChange={(part) => change({ part, sort: '' })}
    >
      <Tabs.List className="tabs" aria-label="Parts of the page">
        {shown.map(({ id, title }) => (
          <Tabs.Trigger key={id} value={id} className="tab">
            {title}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {shown.map(({ id, Content }) => (
        <Tabs.Content
          key={id}
          value={id}
          className={is_filled ? 'tab-panel' : 'stack'}
          {...(is_filled && { tabIndex: -1 })}
        >
          <Content />
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
}

import type { ReactNode } from 'react';
import { useEffect, useRef } from 'react';

interface PageHeaderProps {
  readonly title: string;
  /** One sentence: what the page answers. */
  readonly lead?: ReactNode;
  /** Filters and buttons. */
  readonly children?: ReactNode;
}

/** The head of a page: its title, one sentence, and its controls. */
export function PageHeader({ title, lead, children }: PageHeaderProps) {
  useEffect(() => {
    document.title = `${title} · Customshouse`;
  }, [title]);
  return (
    <header className="page-header">
      <div>
        <h1>{title}</h1>
        {lead === undefined ? null : <p className="lead">{lead}</p>}
      </div>
      {children === undefined ? null : <div className="page-controls">{children}</div>}
    </header>
  );
}

interface PanelProps {
  readonly title: string;
  /** Stands at the right of the title. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
  /** What the panel shows the details of. The panel moves into view when that changes. */
  readonly details_of?: string;
}

/** A part of a page with a heading. */
export function Panel({ title, aside, children, className = '', details_of }: PanelProps) {
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (details_of !== undefined) section.current?.scrollIntoView({ block: 'nearest' });
  }, [details_of]);
  return (
    <section className={`panel ${className}`} ref={section}>
      <div className="panel-head">
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

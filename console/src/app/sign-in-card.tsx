import type { FormEvent, ReactNode } from 'react';
import { useEffect } from 'react';
import { ThemeSwitch, Wordmark } from './shell.tsx';

interface SignInCardProps {
  readonly title: string;
  readonly onSubmit: (event: FormEvent) => void;
  readonly children: ReactNode;
}

/** The form of a page that needs no session, alone in the middle of the screen. */
export function SignInCard({ title, onSubmit, children }: SignInCardProps) {
  useEffect(() => {
    document.title = `${title} · Customshouse`;
  }, [title]);
  return (
    <main className="sign-in">
      <form className="sign-in-card" onSubmit={onSubmit}>
        <Wordmark />
        <h1>{title}</h1>
        {children}
        <ThemeSwitch />
      </form>
    </main>
  );
}

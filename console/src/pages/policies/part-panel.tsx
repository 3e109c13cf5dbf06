import { type ReactNode, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/page-header.tsx';
import { revealHidden, SafeText } from '../../components/safe-text.tsx';
import { type PartChange, PartDialog, type SavedVersion } from './part-dialog.tsx';

interface PartPanelProps {
  readonly noun: PartChange['noun'];
  readonly name: string;
  readonly change: OfferedChange;
  readonly error: unknown;
  readonly children: ReactNode;
}

/** The change that the button of a panel offers. */
export interface OfferedChange {
  readonly verb: PartChange['verb'];
  readonly calls: Readonly<Record<PartChange['verb'], PartChange['call']>>;
  readonly can_change: boolean;
}

/** Shows a template or skill, with the button that installs or removes it and the result of that. */
export function PartPanel({ noun, name, change, error, children }: PartPanelProps) {
  const { verb, calls, can_change } = change;
  // The verb as it was when the button was pressed: the list is read again before the dialog closes.
  const [chosen, setChosen] = useState<PartChange['verb'] | null>(null);
  const [saved, setSaved] = useState<SavedVersion | null>(null);
  return (
    <Panel
      title={revealHidden(name)}
      aside={
        can_change ? (
          <Button look={verb === 'Install' ? 'primary' : undefined} is_small onClick={() => setChosen(verb)}>
            {verb}
          </Button>
        ) : null
      }
    >
      <ErrorNote error={error} />
      {saved === null ? null : (
        <div className={saved.warnings.length === 0 ? 'note good' : 'note watch'} role="status">
          <p>Version {saved.version} of the policy document is active in all workers.</p>
          {saved.warnings.map((warning) => (
            <p key={warning}>
              <SafeText text={warning} />
            </p>
          ))}
        </div>
      )}
      {children}
      {chosen === null ? null : (
        <PartDialog
          change={{ noun, name, verb: chosen, call: calls[chosen] }}
          onDone={setSaved}
          onClose={() => setChosen(null)}
        />
      )}
    </Panel>
  );
}

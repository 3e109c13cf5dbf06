import { useMutation } from '@tanstack/react-query';
import { type ApiError, callOperation, type OperationInput } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { saveFile } from '../../components/save-file.ts';

const FORMATS = [
  ['json', 'JSON', 'application/json', 'json'],
  ['html', 'HTML', 'text/html', 'html'],
  ['markdown', 'Markdown', 'text/markdown', 'md'],
] as const;

type ReportInput = Pick<OperationInput<'complianceReport'>, 'framework' | 'last' | 'tenant_id'>;

/** Downloads the report in each format, and prints the page, from which a browser makes a PDF. */
export function ReportDownloads({ input }: { readonly input: ReportInput }) {
  const download = useMutation<void, ApiError, (typeof FORMATS)[number]>({
    mutationFn: async ([format, , type, suffix]) => {
      const answer = await callOperation('complianceReport', { ...input, format });
      const { content } = answer as { readonly content?: string };
      const text = content ?? `${JSON.stringify(answer, null, 2)}\n`;
      saveFile(`compliance-${input.framework}.${suffix}`, type, text);
    },
  });
  return (
    <div className="report-downloads">
      {FORMATS.map((format) => (
        <Button
          key={format[0]}
          is_small
          disabled={download.isPending}
          onClick={() => download.mutate(format)}
        >
          Download {format[1]}
        </Button>
      ))}
      <Button is_small onClick={() => globalThis.print()}>
        Print or save as PDF
      </Button>
      <ErrorNote error={download.error} />
    </div>
  );
}

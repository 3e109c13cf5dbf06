import { parseAllDocuments } from 'yaml';
import { CustomshouseError } from './errors.ts';

const ALIASES_MAX = 200;
const DOCUMENTS_MAX = 1_000;

/**
 * Parses YAML 1.2 (and so JSON) into plain values, one for each document, with the parser of the service.
 *
 * @throws CustomshouseError with the line, and no part of the text
 */
export function parseYamlText(text: string): readonly unknown[] {
  const parsed = parseAllDocuments(text, { prettyErrors: false, logLevel: 'silent', version: '1.2' });
  const documents = 'empty' in parsed ? [] : parsed;
  if (documents.length > DOCUMENTS_MAX)
    throw new CustomshouseError(`has more than ${DOCUMENTS_MAX} documents`);
  return documents.map((document) => {
    const [fault] = [...document.errors, ...document.warnings];
    if (fault !== undefined)
      throw new CustomshouseError(`is not valid YAML: ${describeFault(text, fault.pos[0], fault.message)}`);
    return document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown;
  });
}

/** Returns the line, and the message of the parser up to the first colon. The rest quotes the text. */
function describeFault(text: string, offset: number, message: string): string {
  const line = text.slice(0, offset).split('\n').length;
  return `line ${line}: ${(message.split(/[:\n]/, 1)[0] ?? '').trim()}`;
}

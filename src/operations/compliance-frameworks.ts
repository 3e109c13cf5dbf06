/** The compliance frameworks with a mapping in `data/compliance`. */
export const FRAMEWORK_IDS = [
  'hipaa',
  'pci-dss',
  'soc2',
  'gdpr',
  'eu-ai-act',
  'nist-ai-rmf',
  'iso-42001',
  'owasp-agentic',
  'owasp-llm',
] as const;
export type FrameworkId = (typeof FRAMEWORK_IDS)[number];

/** Returns the id of a framework by its name, in any case and with the usual spellings; `null` if there is none. */
export function findFrameworkId(name: string): FrameworkId | null {
  const wanted = name
    .trim()
    .toLowerCase()
    .replace(/^pci(?:[ _]?dss)?$/, 'pci-dss')
    .replace(/^soc[ _-]2$/, 'soc2');
  return FRAMEWORK_IDS.find((id) => id === wanted) ?? null;
}

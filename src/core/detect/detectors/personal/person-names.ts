import type { Detector } from '../../matching/detector.ts';
import { buildIdentifierDetectors } from '../../matching/identifier.ts';
import { NAME_PART } from '../../matching/named-value.ts';

const NAME = `${NAME_PART}(?: (?:[A-Z]\\. )?${NAME_PART}){0,2}`;
const AFTER = '(?![\\w\\u00c0-\\u024f(=]|[.,/-]\\d)';

/** Names of people after a form field, a key, a title, a salutation or the closing of a letter. */
export const personNames: readonly Detector[] = [
  ...buildIdentifierDetectors({
    id: 'any.person_name',
    detector: 'person_name',
    severity: 'low',
    description: 'Names of people in forms: two to four words that begin with capitals.',
    value: `${NAME_PART}(?: (?:[A-Z]\\. )?${NAME_PART}){1,3}`,
    check: (_, written) => isName(written),
    is_exact_case: true,
    names: [
      'full name',
      'full[ _-]?name',
      'my name',
      'patient[ _-]?name',
      'customer[ _-]?name',
      'client[ _-]?name',
      'card[ _-]?holder',
      'card[ _-]?holder[ _-]?name',
      'account[ _-]?holder',
      'employee[ _-]?name',
      'contact[ _-]?name',
      'legal[ _-]?name',
      'display[ _-]?name',
      'passenger',
      'guest[ _-]?name',
      'recipient',
      'beneficiary',
      'next of kin',
      'emergency contact',
      'name of patient',
      'patient',
      'nom complet',
      'nombre completo',
      'nome completo',
      'nome e cognome',
      'volledige naam',
      'vollst[äa]ndiger name',
      'imi[ęe] i nazwisko',
    ],
    valid: ['Ada Lovelace', 'José García Márquez', 'Ada B. Lovelace'],
    invalid: ['is ready now', 'First Name'],
  }),
  ...buildIdentifierDetectors({
    id: 'any.person_name_part',
    detector: 'person_name',
    severity: 'low',
    description: 'First names and surnames in the fields of forms and records that are named for them.',
    value: `${NAME_PART}(?:[ -]${NAME_PART})?`,
    check: (_, written) => isName(written),
    is_exact_case: true,
    names: [
      'first name',
      'first[ _-]?name',
      'last[ _-]?name',
      'middle[ _-]?name',
      'given[ _-]?name',
      'family[ _-]?name',
      'maiden[ _-]?name',
      'surname',
      'forename',
      'vorname',
      'nachname',
      'pr[ée]nom',
      'nom de famille',
      'apellidos',
      'cognome',
      'sobrenome',
      'achternaam',
      'voornaam',
      'nazwisko',
    ],
    valid: ['Lovelace', 'Jean-Luc'],
    invalid: ['is ready', 'String'],
  }),
  {
    id: 'any.person_addressed',
    detector: 'person_name',
    tags: ['personal.pii.person_name'],
    severity: 'low',
    strength: 'cue',
    description:
      'Names of people after a title, as it is written in running text: `Mrs. Lovelace`, `Frau Curie`.',
    anchors: [
      '\\bMr[. s]',
      '\\bMs[. ]',
      '\\bMiss ',
      '\\bDr[. ]',
      '\\bProf[. ]',
      '\\bHerr[n ]',
      '\\bFrau ',
      '\\bMme[. ]',
      '\\bMonsieur ',
      '\\bMadame ',
      '\\bSra?[. ]',
    ],
    pattern: new RegExp(
      `(?:(?:Mr|Mrs|Ms|Dr|Prof|Mme|Sr|Sra)\\.?|Miss|Herrn?|Frau|Monsieur|Madame) (?:(?:Dr|Prof)\\. )?(?<value>${NAME})${AFTER}`,
    ),
    validate: isName,
    examples: {
      hits: [
        'ask Mrs. «Lovelace» about it',
        'Herr «Max Planck» ist da',
        'Dr. «Marie Curie», who',
        'Sehr geehrte Frau Dr. «Curie»,',
      ],
      misses: ['built for MS Windows', 'in 30 ms: Mark', 'tl;dr You see', 'Dr. -Ing', 'Mr. and'],
    },
  },
  {
    id: 'any.person_greeted',
    detector: 'person_name',
    tags: ['personal.pii.person_name'],
    severity: 'low',
    strength: 'cue',
    description: 'Names of people in salutations with a comma behind them, and under the end of a letter.',
    anchors: [
      '\\bDear ',
      '\\bLiebe',
      '\\bCher',
      '\\bChère',
      '\\bQuerid',
      '\\bGentile ',
      '(?i)regards[,\\s]',
      '(?i)sincerely[,\\s]',
      '(?i)gr[üu][ßs]s?en?[,\\s]',
      '\\bCordialement',
      '\\bSaludos',
    ],
    pattern: new RegExp(
      `(?:(?:Dear|Lieber?|Ch[eè]re?|Querid[oa]|Gentile) (?<value>${NAME})(?=[,:!\\n])|` +
        `(?:[Rr]egards|REGARDS|[Ss]incerely|[Gg]r[üu](?:ß|ss)en?|Cordialement|Saludos),?[ \\t]{0,2}\\r?\\n{1,2}[ \\t]{0,4}(?<value2>${NAME})(?=[ \\t]{0,4}(?:\\r?\\n|$)))`,
    ),
    try_work: 48,
    validate: isName,
    examples: {
      hits: [
        'Dear «Ada»,\nthank you',
        'Best regards,\n«Ada Lovelace»\n',
        'Mit freundlichen Grüßen\n«Marie Curie»',
        'Querida «Marie»: gracias',
      ],
      misses: [
        'Dear Team,',
        'Dear Sir or Madam,',
        'Dear diary of mine',
        'Kind regards,\nthe team',
        'Kind regards,\nYour Support Team\n',
      ],
    },
  },
];

/** Excludes words of forms, of code, and of salutations without a name. */
function isName(written: string): boolean {
  return !NO_NAME.test(written);
}

const NO_NAME =
  /\b(?:name|email|phone|address|date|number|type|string|text|varchar|char|boolean|integer|object|field|column|input|value|required|optional|first|last|full|null|none|true|false|the|this|that|and|team|support|service|please|your|you|sirs?|madam|all|customers?|clients?|users?|colleagues?|friends?|members?|everyone|everybody|hiring|manager|editors?|community|recruiter|valued|reader|john doe|jane doe)\b/i;

import type { Detector } from '../matching/detector.ts';
import { hiddenText } from './content/hidden-text.ts';
import { authority } from './injection/authority.ts';
import { concealment } from './injection/concealment.ts';
import { dataRequests } from './injection/data-requests.ts';
import { dataTask } from './injection/data-task.ts';
import { disguisedWords } from './injection/disguised-words.ts';
import { encoding } from './injection/encoding.ts';
import { exfiltration } from './injection/exfiltration.ts';
import { extraction } from './injection/extraction.ts';
import { harmPretext } from './injection/harm-pretext.ts';
import { jailbreak } from './injection/jailbreak.ts';
import { joinedWords } from './injection/joined-words.ts';
import { languages } from './injection/languages.ts';
import { languagesAuthority } from './injection/languages-authority.ts';
import { languagesData } from './injection/languages-data.ts';
import { languagesFurther } from './injection/languages-further.ts';
import { languagesJailbreak } from './injection/languages-jailbreak.ts';
import { languagesRomanised } from './injection/languages-romanised.ts';
import { override } from './injection/override.ts';
import { persona } from './injection/persona.ts';
import { promptForms } from './injection/prompt-forms.ts';
import { promptLanguages } from './injection/prompt-languages.ts';
import { secretRequests } from './injection/secret-requests.ts';
import { structure } from './injection/structure.ts';
import { taskOrder } from './injection/task-order.ts';
import { terminal } from './injection/terminal.ts';
import { baltic } from './personal/baltic.ts';
import { bankCodes } from './personal/bank-codes.ts';
import { benelux } from './personal/benelux.ts';
import { britishIsles } from './personal/british-isles.ts';
import { cardWithName } from './personal/card-with-name.ts';
import { centralEurope } from './personal/central-europe.ts';
import { creditCard } from './personal/credit-card.ts';
import { cryptoWallet } from './personal/crypto-wallet.ts';
import { devices } from './personal/devices.ts';
import { documents } from './personal/documents.ts';
import { documentsLocal } from './personal/documents-local.ts';
import { eastAsia } from './personal/east-asia.ts';
import { easternEurope } from './personal/eastern-europe.ts';
import { email } from './personal/email.ts';
import { franceItaly } from './personal/france-italy.ts';
import { germanSpeaking } from './personal/german-speaking.ts';
import { iban } from './personal/iban.ts';
import { iberia } from './personal/iberia.ts';
import { ipAddress } from './personal/ip-address.ts';
import { latinAmerica } from './personal/latin-america.ts';
import { life } from './personal/life.ts';
import { middleEastAfrica } from './personal/middle-east-africa.ts';
import { nordic } from './personal/nordic.ts';
import { northAmerica } from './personal/north-america.ts';
import { oceania } from './personal/oceania.ts';
import { personNames } from './personal/person-names.ts';
import { phone } from './personal/phone.ts';
import { phoneWithName } from './personal/phone-with-name.ts';
import { southAsia } from './personal/south-asia.ts';
import { southeastAsia } from './personal/southeast-asia.ts';
import { ssn } from './personal/ssn.ts';
import { anthropic } from './secrets/anthropic.ts';
import { authorization } from './secrets/authorization.ts';
import { aws } from './secrets/aws.ts';
import { azure } from './secrets/azure.ts';
import { checkedTokens } from './secrets/checked-tokens.ts';
import { cloudflare } from './secrets/cloudflare.ts';
import { commandLine } from './secrets/command-line.ts';
import { connectionString } from './secrets/connection-string.ts';
import { credentialFiles } from './secrets/credential-files.ts';
import { databricks } from './secrets/databricks.ts';
import { digitalocean } from './secrets/digitalocean.ts';
import { discord } from './secrets/discord.ts';
import { genericKey } from './secrets/generic-key.ts';
import { github } from './secrets/github.ts';
import { gitlab } from './secrets/gitlab.ts';
import { google } from './secrets/google.ts';
import { hashicorp } from './secrets/hashicorp.ts';
import { huggingface } from './secrets/huggingface.ts';
import { jwt } from './secrets/jwt.ts';
import { keyMaterial } from './secrets/key-material.ts';
import { keysBusiness } from './secrets/keys-business.ts';
import { keysData } from './secrets/keys-data.ts';
import { keysFinance } from './secrets/keys-finance.ts';
import { keysPlatforms } from './secrets/keys-platforms.ts';
import { kubernetes } from './secrets/kubernetes.ts';
import { mailchimp } from './secrets/mailchimp.ts';
import { mailgun } from './secrets/mailgun.ts';
import { maxmind } from './secrets/maxmind.ts';
import { npm } from './secrets/npm.ts';
import { openai } from './secrets/openai.ts';
import { password } from './secrets/password.ts';
import { passwordFiles } from './secrets/password-files.ts';
import { passwordForms } from './secrets/password-forms.ts';
import { passwordNotations } from './secrets/password-notations.ts';
import { privateKey } from './secrets/private-key.ts';
import { pypi } from './secrets/pypi.ts';
import { secretAddresses } from './secrets/secret-addresses.ts';
import { sendgrid } from './secrets/sendgrid.ts';
import { buildServiceDetector } from './secrets/service.ts';
import { shopify } from './secrets/shopify.ts';
import { slack } from './secrets/slack.ts';
import { square } from './secrets/square.ts';
import { stripe } from './secrets/stripe.ts';
import { telegram } from './secrets/telegram.ts';
import { tokensAi } from './secrets/tokens-ai.ts';
import { tokensBusiness } from './secrets/tokens-business.ts';
import { tokensCloud } from './secrets/tokens-cloud.ts';
import { tokensCode } from './secrets/tokens-code.ts';
import { tokensCommerce } from './secrets/tokens-commerce.ts';
import { tokensInContext } from './secrets/tokens-in-context.ts';
import { tokensOperations } from './secrets/tokens-operations.ts';
import { twilio } from './secrets/twilio.ts';

/**
 * All built-in detectors: hidden text, injections, personal data and secrets, each in the order of its file. The
 * build loads a file only when one of its detectors is first tried (see scripts/build/lazy-modules.ts). The tags of a
 * detector decide its violation type: tags under `secret` give `secret_detected`, under `personal` `pii_detected`,
 * and under `injection` `injection_detected`.
 *
 * Injections have the tag `injection.<kind>`; their severity depends on the text near them (see phrases.ts). Secrets
 * have the tag `secret.credential.<detector>[.<vendor>]`; a form is `critical`, and a word next to a value is less. Personal data has the tag
 * `personal.pii.<kind>`: `ssn`, `card` and `iban` are `high`, `email` and `phone` `medium`, `ip_address` `low`. Cards
 * and bank accounts also have the tag `personal.financial.<kind>`.
 */
export const detectorFiles: readonly (() => readonly Detector[])[] = [
  () => hiddenText,
  () => authority,
  () => concealment,
  () => dataRequests,
  () => dataTask,
  () => disguisedWords,
  () => encoding,
  () => exfiltration,
  () => extraction,
  () => harmPretext,
  () => jailbreak,
  () => joinedWords,
  () => languagesAuthority,
  () => languagesData,
  () => languagesFurther,
  () => languagesJailbreak,
  () => languagesRomanised,
  () => languages,
  () => override,
  () => persona,
  () => promptForms,
  () => promptLanguages,
  () => secretRequests,
  () => structure,
  () => taskOrder,
  () => terminal,
  () => baltic,
  () => bankCodes,
  () => benelux,
  () => britishIsles,
  () => cardWithName,
  () => centralEurope,
  () => creditCard,
  () => cryptoWallet,
  () => devices,
  () => documentsLocal,
  () => documents,
  () => eastAsia,
  () => easternEurope,
  () => email,
  () => franceItaly,
  () => germanSpeaking,
  () => iban,
  () => iberia,
  () => ipAddress,
  () => latinAmerica,
  () => life,
  () => middleEastAfrica,
  () => nordic,
  () => northAmerica,
  () => oceania,
  () => personNames,
  () => phoneWithName,
  () => phone,
  () => southAsia,
  () => southeastAsia,
  () => ssn,
  () => anthropic,
  () => authorization,
  () => aws,
  () => azure,
  () => checkedTokens,
  () => cloudflare,
  () => commandLine,
  () => connectionString,
  () => credentialFiles,
  () => databricks,
  () => digitalocean,
  () => discord,
  () => genericKey,
  () => github,
  () => gitlab,
  () => google,
  () => hashicorp,
  () => huggingface,
  () => jwt,
  () => keyMaterial,
  () => keysBusiness,
  () => keysData,
  () => keysFinance,
  () => keysPlatforms,
  () => kubernetes,
  () => mailchimp,
  () => mailgun,
  () => maxmind,
  () => npm,
  () => openai,
  () => passwordFiles,
  () => passwordForms,
  () => passwordNotations,
  () => password,
  () => privateKey,
  () => pypi,
  () => secretAddresses,
  () => sendgrid,
  () => buildServiceDetector,
  () => shopify,
  () => slack,
  () => square,
  () => stripe,
  () => telegram,
  () => tokensAi,
  () => tokensBusiness,
  () => tokensCloud,
  () => tokensCode,
  () => tokensCommerce,
  () => tokensInContext,
  () => tokensOperations,
  () => twilio,
];

/** Documents: decode, classify, read metadata; tax IDs and access keys. Pure functions over bytes and strings. */
export {
  type AccessKeyProblem,
  accessKeyCheckDigit,
  accessKeyParts,
  buildAccessKey,
  InvalidAccessKey,
  isAccessKey,
  keyMetadata,
  parseAccessKey,
} from './access-key.js';
export { cteEventFaults } from './cte-event-fields.js';
export { tellsMore } from './cte-related.js';
export { isRegisteredCteEvent } from './cte-status.js';
export { decodeItem } from './decode.js';
export { directionOf, rolesOf } from './direction.js';
export { stateOfEventType } from './event-state.js';
export { extractedXml, extractXml } from './extract.js';
export { instantOf } from './instant.js';
export { DECODE_LIMITS } from './limits.js';
export { isRegisteredEvent } from './nfe-status.js';
export { isNfseKey, nfseKeyCheckDigit, parseNfseKey } from './nfse-key.js';
export { fullXmlOf, isWholeDocument, stateOf, stateOfKey } from './state.js';
export {
  cnpjCheckDigits,
  cpfCheckDigits,
  InvalidTaxId,
  isTaxId,
  normalizeTaxId,
  parseTaxId,
  type TaxIdProblem,
  taxIdKind,
  taxIdRoot,
} from './tax-id.js';
export { isUf, UFS, ufByCode, ufCode } from './uf.js';

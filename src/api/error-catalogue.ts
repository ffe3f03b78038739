/**
 * Every error that the API answers with: its stable code, HTTP status, title, and what the caller can do about it.
 * docs/errors.md shows the same table (a test compares the two). Codes are never renamed or reused: customers branch on them.
 */
interface CatalogueEntry {
  readonly status: number;
  readonly title: string;
  /** What the caller can do. One or two sentences; shown in the documentation. */
  readonly action: string;
}

/** Every `code` of the API with its HTTP status and title, and what a caller does about it. docs/errors.md is held to it by a test. */
export const ERROR_CATALOGUE = {
  malformed_request: {
    status: 400,
    title: 'The request could not be read',
    action: 'Send a JSON object with `Content-Type: application/json`, in UTF-8, and no other encoding.',
  },
  unauthorized: {
    status: 401,
    title: 'No valid API key',
    action: 'Send `Authorization: Bearer mlt_…` with a key that exists and was not revoked.',
  },
  scope_missing: {
    status: 403,
    title: 'The key lacks a scope',
    action: 'Use a key with the scope named in `detail`. `admin` includes `manage`, `manage` includes `read`.',
  },
  key_limited: {
    status: 403,
    title: 'The key is limited to some companies',
    action: 'This action concerns more than the companies of the key: use a key without that limit.',
  },
  link_invalid: {
    status: 403,
    title: 'The link opens nothing',
    action: 'Use the whole link as it was given, or make a new one with `POST /v1/documents/{id}/links`.',
  },
  link_expired: {
    status: 403,
    title: 'The link has expired',
    action: 'Make a new one with `POST /v1/documents/{id}/links`: links open a document for 15 minutes.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    action: 'Check the id. What a key may not see answers the same as what does not exist.',
  },
  route_not_found: {
    status: 404,
    title: 'No such route',
    action: 'Check method and path against `/docs` or `/openapi.json`.',
  },
  company_exists: {
    status: 409,
    title: 'The tax ID is already registered',
    action: 'Find the company with `GET /v1/companies?taxId=…` and use its id; change it with PATCH.',
  },
  environment_in_use: {
    status: 409,
    title: 'The capture runs in the other environment',
    action:
      'A company captures a document type in one environment at a time: stop the running one (DELETE), then start this one.',
  },
  capture_stopped: {
    status: 409,
    title: 'The capture is stopped',
    action: 'Start it with `PUT …/captures/{documentType}`; only a started capture can be resumed, paused or asked.',
  },
  capture_held: {
    status: 409,
    title: 'A person holds the capture',
    action: 'Resume it (`POST …/resume`), or wait until the hold ends; nothing is asked meanwhile.',
  },
  capture_needs_operator: {
    status: 409,
    title: 'The capture waits for an operator',
    action: 'Operators: run `malote verify --repair`; until then nothing is asked for this company.',
  },
  query_in_hand: {
    status: 409,
    title: 'A query of the capture is in the air',
    action: 'Try again as `Retry-After` says.',
  },
  gap_closed: {
    status: 409,
    title: 'The number is here already',
    action: 'Nothing is to be recovered: find the document with `GET /v1/documents?nsu=…`.',
  },
  gap_expired: {
    status: 409,
    title: 'The government does not keep it any more',
    action: 'Documents are kept for 90 days. Ask the issuer for the file and import it.',
  },
  manifestation_pending: {
    status: 409,
    title: 'Another statement about the document is on its way',
    action: 'Wait until it is settled (`GET /v1/manifestations?key=…`), then ask again.',
  },
  company_being_deleted: {
    status: 409,
    title: 'The company is being deleted',
    action: 'Nothing can be started for it any more. Wait for the deletion to end, then register it again.',
  },
  deletion_begun: {
    status: 409,
    title: 'The deletion has begun',
    action: 'It cannot be taken back any more. Wait until it is done, then register the company again.',
  },
  summary_only: {
    status: 409,
    title: 'Only a summary of the note is here',
    action: 'A summary has no PDF. `detail` says how to get the full XML; the PDF is there with it.',
  },
  no_pdf: {
    status: 409,
    title: 'The document has no printed form',
    action:
      'Use the XML. There are PDFs of NF-e, NFC-e, CT-e (also OS and simplified), NFS-e and correction letters; `links.pdf` is there where there is one.',
  },
  export_has_no_file: {
    status: 409,
    title: 'The export has no file',
    action:
      'One that is pending or running: wait until `GET /v1/exports/{id}` says `done`. Else start it again: files are kept for 7 days.',
  },
  endpoint_deleted: {
    status: 409,
    title: 'The webhook endpoint was deleted',
    action: 'Create the endpoint again; what happens from then on is sent there.',
  },
  idempotency_in_flight: {
    status: 409,
    title: 'The first request with this Idempotency-Key is still running',
    action:
      'Wait as many seconds as `Retry-After` says and send the same request again: it gets the answer of the first.',
  },
  body_too_large: {
    status: 413,
    title: 'The request body is too large',
    action: 'Stay below the limit named in `detail`. A certificate file (PFX) may have 64 kB.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is of a type that is not read here',
    action: 'Send one of the content types in `detail`: `application/json`, or, to import, a ZIP or an XML file.',
  },
  range_not_satisfiable: {
    status: 416,
    title: 'The file ends before that range',
    action: 'Ask for bytes below the size in `Content-Range`, or leave `Range` out.',
  },
  pdf_not_possible: {
    status: 422,
    title: 'The document cannot be printed',
    action: 'Use the XML. `detail` says what is wrong with it: a page made of it would be empty, or would lie.',
  },
  invalid_input: {
    status: 422,
    title: 'The input is not valid',
    action: 'Correct the fields listed in `errors`; each says what was expected.',
  },
  capture_missing: {
    status: 422,
    title: 'The company has no such capture',
    action: 'Start one with `PUT …/captures/{documentType}` in the environment that is meant; it may be stopped again.',
  },
  confirmation_required: {
    status: 422,
    title: 'This statement cannot be taken back',
    action: 'Send the same request with `"confirm": true`, once a person has decided it. Nothing was sent.',
  },
  manifestation_not_possible: {
    status: 422,
    title: 'The government would not take this statement',
    action: 'See `errors`: the note or the statement cannot be meant. Nothing was sent.',
  },
  not_supported: {
    status: 422,
    title: 'This document type cannot be asked for so',
    action: 'Ask by NSU: only NF-e can be asked for by access key.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'The Idempotency-Key was used for another request',
    action: 'Use a new key for a new request. A key is bound to method, path and body for 24 hours.',
  },
  certificate_missing: {
    status: 422,
    title: 'The company has no certificate',
    action:
      'Store one with `PUT /v1/companies/{id}/certificate`, for the company or for another one with the same root.',
  },
  certificate_expired: {
    status: 422,
    title: 'The certificate has expired',
    action: 'Store a valid certificate with `PUT /v1/companies/{id}/certificate`.',
  },
  certificate_not_yet_valid: {
    status: 422,
    title: 'The certificate is not valid yet',
    action: 'Wait for the beginning of its validity (in `detail`), or store one that is valid now.',
  },
  certificate_password_wrong: {
    status: 422,
    title: 'The password does not open the certificate file',
    action: 'Send the password that the file was exported with; mind keyboard layout and trailing blanks.',
  },
  certificate_unreadable: {
    status: 422,
    title: 'The file is no PKCS#12 (PFX, P12) file that can be read',
    action: 'Send the whole .pfx or .p12 file in base64. Export it again if it was cut or changed on the way.',
  },
  certificate_no_private_key: {
    status: 422,
    title: 'The file has no private key',
    action: 'Export the certificate again, together with its private key.',
  },
  certificate_key_mismatch: {
    status: 422,
    title: 'The private key does not belong to the certificate',
    action: 'Export certificate and key again from the store that they were issued to.',
  },
  certificate_other_company: {
    status: 422,
    title: 'The certificate belongs to another tax ID',
    action: 'Use a certificate whose CNPJ has the same root (first 8 characters) as the company, or the same CPF.',
  },
  certificate_hardware_key: {
    status: 422,
    title: 'The key is in hardware (A3) and cannot be uploaded',
    action: 'Get an A1 certificate: a key on a card or token cannot work without a person.',
  },
  point_quota_exhausted: {
    status: 429,
    title: 'The hour’s queries for single documents are used up',
    action: 'Send the same request again as `Retry-After` says: the slot is kept for it for a minute.',
  },
  capture_blocked: {
    status: 429,
    title: 'The government rejected a query of this tax ID',
    action: 'Send the same request again as `Retry-After` says; nobody can shorten the wait.',
  },
  content_damaged: {
    status: 500,
    title: 'The stored bytes are missing or damaged',
    action: 'Operators: restore the archive from a backup of the object store; the log names it, by the request id.',
  },
  pdf_failed: {
    status: 500,
    title: 'The PDF could not be made',
    action: 'Use the XML. Operators: report it together with the XML; the log says more, by the request id.',
  },
  pdf_too_slow: {
    status: 503,
    title: 'The PDF was not ready in time',
    action: 'Try again as `Retry-After` says; if it stays, use the XML and report it to the operators.',
  },
  pdf_busy: {
    status: 503,
    title: 'Too many PDFs are being made',
    action: 'Try again as `Retry-After` says.',
  },
  temporarily_unavailable: {
    status: 503,
    title: 'A dependency does not answer',
    action: 'Try again as `Retry-After` says. Operators: see `/readyz` and the log, by the request id.',
  },
  capture_busy: {
    status: 503,
    title: 'Ten questions of this capture wait already',
    action: 'Send the same request again as `Retry-After` says.',
  },
  government_unavailable: {
    status: 503,
    title: 'The government gave no usable answer',
    action: 'Send the same request again as `Retry-After` says. `GET …/queries` shows what was answered.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    action: 'Try again; if it stays, send the operators the request id. Details stand in the log only.',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ProblemCode = keyof typeof ERROR_CATALOGUE;

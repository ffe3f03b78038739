-- Up Migration
-- Tables of Malote. NSUs are bigint (the API shows 15 digits), tax IDs and keys are text (letters are legal), amounts numeric.
-- "capture" below always means (company_id, document_type, environment). Times have milliseconds and no more, because programs
-- and list cursors carry milliseconds: a row must not lie between two of them.

create table companies (
  id              uuid primary key,
  tax_id          text not null unique check (tax_id ~ '^([0-9A-Z]{12}[0-9]{2}|[0-9]{11})$'),
  root            text not null,                 -- first 8 characters of a CNPJ, the whole CPF
  name            text not null,
  uf              text not null check (uf ~ '^[A-Z]{2}$'),
  external_id     text,
  tags            text[] not null default '{}',
  event_sequence  bigint not null default 0,     -- last sequence given to an event of this company
  created_at      timestamptz(3) not null default now(),
  deleting_at     timestamptz(3)
);
create index companies_listed on companies (created_at desc, id desc);
create index companies_root on companies (root);
create index companies_external on companies (external_id) where external_id is not null;
create index companies_tags on companies using gin (tags);

create table certificates (
  id           uuid primary key,
  company_id   uuid not null references companies (id) on delete cascade,
  root         text not null,                    -- of the certificate's holder: serves every branch
  tax_id       text not null,
  subject      text not null,
  thumbprint   text not null,                    -- SHA-256 of the leaf, hex
  not_before   timestamptz(3) not null,
  not_after    timestamptz(3) not null,
  chain        text not null,                    -- PEM, leaf first; public
  key_id       text not null,                    -- which master key wraps the data key
  wrapped_key  bytea not null,                   -- data key under the master key: nonce ‖ ciphertext ‖ tag
  sealed       bytea not null,                   -- PKCS#8 private key under the data key: nonce ‖ ciphertext ‖ tag
  created_at   timestamptz(3) not null default now()
);
create index certificates_company on certificates (company_id, created_at desc);
create index certificates_root on certificates (root, not_after desc);

create table captures (
  company_id      uuid not null references companies (id) on delete cascade,
  document_type   text not null,
  environment     text not null,
  enabled         boolean not null default true,
  generation      bigint not null default 1,     -- grows with every start or stop asked for
  revision        bigint not null default 0,     -- grows with every committed change of state; the workflow carries it
  options         jsonb not null default '{}',
  state           jsonb not null,                -- CaptureState, the committed truth
  phase           text not null,                 -- the columns below repeat parts of state for lists and the guard
  ult_nsu         bigint not null default 0,
  max_nsu         bigint not null default 0,
  not_before      timestamptz(3),                   -- the guard: no distribution call before this
  last_query_at   timestamptz(3),
  last_status_code text,
  last_status_text text,
  call_id         text,                          -- the last call begun, of any kind: holder of the lease
  call_deadline   timestamptz(3),                   -- end of the lease; null when no call is open
  distribution_call_id text,                     -- the last distribution call begun: fences the commit of its page
  handed_nsu      bigint not null default 0,
  held_until      timestamptz(3),                   -- a person's hold; 'infinity' without an end
  documents       bigint not null default 0,
  created_at      timestamptz(3) not null default now(),
  updated_at      timestamptz(3) not null default now(),
  primary key (company_id, document_type, environment)
);
create index captures_overdue on captures (not_before) where enabled;
create index captures_phase on captures (phase, company_id, document_type, environment);
-- One environment per company and type at a time (design.md, "capture"), whoever writes.
create unique index captures_one_environment on captures (company_id, document_type) where enabled;

create table services (
  service         text not null,                 -- e.g. 'nfe-distribution'
  environment     text not null,
  paused_from     timestamptz(3),
  paused_until    timestamptz(3),                   -- null: open
  last_paused_until timestamptz(3),              -- end of the last pause: captures still spread out after it
  reason          text,                          -- '108', '109', 'outage', 'breaker'
  probe_call_id   text,
  probe_deadline  timestamptz(3),
  primary key (service, environment)
);

-- One row per government call, written before the call. Also the call log of the API.
create table calls (
  id              text not null,                 -- workflow run id + ':' + activity id
  started_at      timestamptz(3) not null,
  company_id      uuid not null,
  document_type   text not null,
  environment     text not null,
  service         text not null,
  kind            text not null,                 -- distNSU, consNSU, consChNFe, …
  from_nsu        bigint,
  status          text not null default 'open',  -- open, answered, not_sent, unknown
  deadline        timestamptz(3) not null,
  archive_key     text not null,                 -- where the answer's object stands, if there is one
  settled_at      timestamptz(3),
  answered_at     timestamptz(3),
  duration_ms     integer,
  outcome         text,                          -- Outcome.kind
  status_code     text,
  status_text     text,
  ult_nsu         bigint,
  max_nsu         bigint,
  documents       integer not null default 0,
  granted         boolean not null default false, -- a point query that returned a document
  archive_id      uuid,
  body            bytea,                         -- the few bytes of 137, 108, 109 and 656
  result          jsonb,                         -- what the activity returned
  primary key (id, started_at)
) partition by range (started_at);
create table calls_default partition of calls default;
create index calls_capture on calls (company_id, document_type, environment, started_at desc);
create index calls_service on calls (service, environment, started_at desc);

create table archives (
  id            uuid primary key,
  company_id    uuid not null,
  document_type text not null,
  environment   text not null,
  object_key    text not null unique,
  request_key   text,
  call_id       text,
  size          integer not null,
  sha256        text not null,
  content_type  text,
  http_status   integer,
  captured_at   timestamptz(3) not null
);
create index archives_company on archives (company_id, captured_at);

create table documents (
  id             uuid primary key,
  company_id     uuid not null,
  document_type  text not null,
  environment    text not null,
  nsu            bigint,
  kind           text not null,
  schema         text,
  root           text not null,
  key            text,
  direction      text not null,
  state          text not null,
  full_xml       text not null,
  origin         text not null,
  captured_at    timestamptz(3) not null,
  issued_at      timestamptz(3),                    -- for filters; the text as written is in metadata
  total          numeric,
  issuer_tax_id  text,
  recipient_tax_id text,
  metadata       jsonb not null,
  event          jsonb,
  event_type     text,
  event_sequence integer,
  warnings       text[] not null default '{}',
  suppressed     text,                           -- why no webhook was sent
  xml_sha256     text not null,
  xml_length     integer not null,
  archive_id     uuid not null,
  object_key     text not null,
  byte_offset    integer not null,
  byte_length    integer not null,
  encoding       text not null
);
-- The same NSU with other bytes is kept beside the first and raises an alert, so the hash is part of the identity.
create unique index documents_nsu on documents (company_id, document_type, environment, nsu, xml_sha256) where nsu is not null;
create unique index documents_no_nsu on documents (company_id, document_type, environment, key, kind, coalesce(event_type, ''), coalesce(event_sequence, 0), xml_sha256)
  nulls not distinct where nsu is null;
create index documents_key on documents (key, company_id);
create index documents_company_captured on documents (company_id, captured_at desc, id desc);
create index documents_captured on documents (captured_at desc, id desc);
create index documents_company_issued on documents (company_id, issued_at desc) where issued_at is not null;
create index documents_recipient on documents (recipient_tax_id, captured_at desc) where recipient_tax_id is not null;
create index documents_issuer on documents (issuer_tax_id, captured_at desc) where issuer_tax_id is not null;

-- What people search documents by: numbers, keys, names of the parties; folded to plain letters and digits, so that
-- "joão" finds JOAO. The same folding of the question: documents.ts.
create function document_words(metadata jsonb, key text) returns tsvector
  language sql immutable parallel safe
  return to_tsvector('simple'::regconfig, regexp_replace(
    translate(
      lower(coalesce(key, '')
        || ' ' || coalesce(metadata ->> 'number', '')
        || ' ' || coalesce(metadata #>> '{issuer,name}', '') || ' ' || coalesce(metadata #>> '{issuer,taxId}', '')
        || ' ' || coalesce(metadata #>> '{recipient,name}', '') || ' ' || coalesce(metadata #>> '{recipient,taxId}', '')
        || ' ' || coalesce(metadata #>> '{carrier,name}', '')),
      'áàâãäéèêëíìîïóòôõöúùûüçñ', 'aaaaaeeeeiiiiooooouuuucn'),
    '[^a-z0-9]+', ' ', 'g'));
create index documents_search on documents using gin (document_words(metadata, key));

create table failed_items (
  id             uuid primary key,
  company_id     uuid not null,
  document_type  text not null,
  environment    text not null,
  nsu            bigint,
  schema         text,
  failure        text not null,
  detail         text not null,
  archive_id     uuid not null,
  object_key     text not null,
  byte_offset    integer not null,
  byte_length    integer not null,
  encoding       text not null,
  attempts       integer not null default 1,
  next_attempt_at timestamptz(3),
  created_at     timestamptz(3) not null,
  resolved_at    timestamptz(3),
  document_id    uuid
);
create unique index failed_items_identity on failed_items (archive_id, byte_offset);
create index failed_items_due on failed_items (next_attempt_at) where resolved_at is null;
create index failed_items_capture on failed_items (company_id, document_type, environment) where resolved_at is null;

-- Recovery items: single NSUs and ranges that should exist and did not come.
create table gaps (
  id               uuid primary key,
  company_id       uuid not null,
  document_type    text not null,
  environment      text not null,
  from_nsu         bigint not null,
  to_nsu           bigint not null check (to_nsu >= from_nsu),
  status           text not null,                -- pending, recovered, nonexistent, exhausted, expired, before_onboarding, awaiting_confirmation
  cause            text not null,                -- page, jump, lost_page, failed_item, first_page
  attempts         integer not null default 0,
  next_attempt_at  timestamptz(3),
  last_status_code text,
  created_at       timestamptz(3) not null,
  resolved_at      timestamptz(3),
  unique (company_id, document_type, environment, from_nsu, to_nsu)
);
create index gaps_due on gaps (company_id, document_type, environment, status, from_nsu);

-- What customers are told. The body is stored once, as the exact bytes that are signed and sent.
create table events (
  id           text primary key,                 -- evt_…: the webhook-id
  company_id   uuid not null,
  sequence     bigint not null,
  type         text not null,
  action       text not null,
  document_type text,
  document_id  uuid,
  body         text not null,
  created_at   timestamptz(3) not null,
  unique (company_id, sequence)
);
create index events_document on events (document_id) where document_id is not null;
create index events_created on events (created_at);
-- For the retention of bodies: without it every sweep would read the whole past again.
create index events_with_body on events (created_at) where body <> '';

create table endpoints (
  id               uuid primary key,
  url              text not null,
  description      text,
  events           text[],                       -- types; null: all
  company_ids      uuid[],                       -- null: all
  document_types   text[],                       -- null: all
  status           text not null default 'enabled', -- enabled, disabled
  disabled_reason  text,
  disabled_at      timestamptz(3),
  enabled_at       timestamptz(3) not null default now(),
  failing_since    timestamptz(3),
  key_id           text not null,
  secret           bytea not null,               -- under the master key: nonce ‖ ciphertext ‖ tag
  previous_secret  bytea,
  previous_until   timestamptz(3),
  created_at       timestamptz(3) not null default now(),
  deleted_at       timestamptz(3)
);
-- Every page transaction asks which endpoints want a company's events; there may be one endpoint per capture.
create index endpoints_of_all on endpoints (id) where company_ids is null and deleted_at is null;
create index endpoints_of_some on endpoints using gin (company_ids) where deleted_at is null;

create table deliveries (
  id               uuid primary key,
  event_id         text not null,
  endpoint_id      uuid not null,                -- no foreign key: a page transaction never locks endpoint rows
  company_id       uuid not null,
  status           text not null,                -- pending, delivered, exhausted, cancelled; pending at a disabled endpoint shows as held
  attempts         integer not null default 0,  -- since it was last queued; the log of all is delivery_attempts
  first_attempt_at timestamptz(3),                  -- since it was last queued: the 3 days of retries count from it
  next_attempt_at  timestamptz(3),
  lease_id         text,
  leased_until     timestamptz(3),
  last_status_code integer,
  last_error       text,
  created_at       timestamptz(3) not null,
  delivered_at     timestamptz(3),
  unique (event_id, endpoint_id)
);
create index deliveries_due on deliveries (endpoint_id, next_attempt_at, id) where status = 'pending';
create index deliveries_list on deliveries (created_at desc, id desc);
create index deliveries_endpoint on deliveries (endpoint_id, created_at desc, id desc);

create table delivery_attempts (
  id           bigint generated always as identity primary key,
  delivery_id  uuid not null,
  at           timestamptz(3) not null,
  status_code  integer,
  error        text,
  duration_ms  integer not null,
  response     text                              -- first bytes of the answer
);
create index delivery_attempts_delivery on delivery_attempts (delivery_id, id);
create index delivery_attempts_at on delivery_attempts (at);

create table alerts (
  id             uuid primary key,
  code           text not null,
  company_id     uuid,
  document_type  text,
  environment    text,
  subject        text not null default '',       -- further identity: an endpoint id, a service
  detail         text not null,
  opened_at      timestamptz(3) not null,
  closed_at      timestamptz(3)
);
create unique index alerts_open on alerts (code, coalesce(company_id, '00000000-0000-0000-0000-000000000000'), coalesce(document_type, ''), coalesce(environment, ''), subject) where closed_at is null;
create index alerts_opened on alerts (opened_at desc, id desc);

-- One row per document whose webhook became due; the primary key makes it exact under retries.
create table usage_records (
  document_id    uuid primary key,
  company_id     uuid not null,
  document_type  text not null,
  kind           text not null,
  month          date not null
);
create index usage_month on usage_records (month, company_id, document_type);

create table api_keys (
  id           uuid primary key,
  name         text not null,
  hash         text not null unique,             -- SHA-256 of the key, hex
  scopes       text[] not null,
  company_ids  uuid[],                           -- null: all
  created_at   timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  revoked_at   timestamptz(3)
);

create table idempotency (
  scope        text not null,                    -- API key id + method + path
  key          text not null,
  request_mac  text not null,                    -- keyed hash of the request; the request itself is not kept
  status       integer,                          -- null: still in flight
  answer       bytea,                            -- under the master key
  created_at   timestamptz(3) not null,
  primary key (scope, key)
);
create index idempotency_created on idempotency (created_at);

create table audit (
  id      bigint generated always as identity primary key,
  at      timestamptz(3) not null default now(),
  actor   text not null,
  action  text not null,
  target  text not null,
  detail  jsonb not null default '{}'
);

create table settings (
  name  text primary key,
  value jsonb not null
);

-- Down Migration
-- Forward only: a database of a newer version is refused by an older program.

-- Up Migration
-- What companies say about documents that they received: requests, automatic Awareness, and what became of them.

create table manifestations (
  id              uuid primary key,
  company_id      uuid not null references companies (id) on delete cascade,
  document_type   text not null,
  environment     text not null,
  key             text not null,                 -- of the document that it is about
  type            text not null,                 -- tpEvento
  sequence        smallint not null,             -- nSeqEvento
  subject         text not null default '',      -- a cancellation of an event: the cancelled event's type
  origin          text not null,                 -- request, awareness
  status          text not null,                 -- pending, registered, rejected, expired
  justification   text,
  fields          jsonb,                         -- of Tax Reform events
  requested_at    timestamptz(3) not null,
  deadline        timestamptz(3),                -- by law; null: none, or not known
  expires_at      timestamptz(3) not null,       -- end of tries; the government has the last word about the deadline
  next_attempt_at timestamptz(3),                -- null once it is settled
  attempts        integer not null default 0,    -- times sent
  failures        integer not null default 0,    -- in a row: no answer about it
  unanswered      integer not null default 0,    -- in a row: the request that held it was not answered, perhaps because of its content
  alone           boolean not null default false, -- goes in a request of its own from now on
  put_off         boolean not null default false, -- only for want of a certificate: looked at whenever there may be one
  signed          bytea,                         -- the signed event: every attempt sends these bytes
  signed_until    timestamptz(3),                -- end of the certificate that signed it
  call_id         text,                          -- the last request that held it
  call_started_at timestamptz(3),
  together        smallint not null default 0,   -- events in that request
  call_deadline   timestamptz(3),                -- until then that request may be answered; null: it is settled
  late            boolean not null default false,
  status_code     text,                          -- of the last answer about it
  status_text     text,
  protocol        text,
  registered_at   timestamptz(3),
  settled_at      timestamptz(3),
  document_id     uuid,                          -- the registered event as a document
  xml_due_at      timestamptz(3)                 -- the full document should have come by then; null: it did, or nobody waits
);
-- The event's Id: a second one of the same Id would be the same event.
create unique index manifestations_event on manifestations (key, type, sequence, subject, company_id, environment)
  where status in ('pending', 'registered');
create index manifestations_due on manifestations (company_id, document_type, environment, next_attempt_at) where status = 'pending';
create index manifestations_overdue on manifestations (next_attempt_at) where status = 'pending';
create index manifestations_call on manifestations (call_id) where call_id is not null;
create index manifestations_xml_due on manifestations (xml_due_at) where xml_due_at is not null;
create index manifestations_listed on manifestations (requested_at desc, id desc);
create index manifestations_company on manifestations (company_id, requested_at desc, id desc);
create index manifestations_key on manifestations (key, company_id);

-- Of a summary: why no automatic Awareness was sent for it. Null: one is scheduled or was sent, or nobody asked for it.
alter table documents add column awareness_skipped text;

-- Summaries whose whole document should have come: is there any left?
create index documents_overdue_xml on documents (company_id) where full_xml = 'overdue';

-- Down Migration
-- Forward only: a database of a newer version is refused by an older program.

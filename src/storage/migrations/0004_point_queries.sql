-- Up Migration
-- Point queries, recovery items, and what people ask to have again.

-- Which origin the call's documents get: distribution, recovery, reprocess.
alter table calls add column origin text not null default 'distribution';

-- The database turned out to be older than what a workflow knows: nobody calls until `malote verify --repair`.
alter table captures add column behind boolean not null default false;

-- A pending item always has an instant at which it is tried.
update gaps set next_attempt_at = created_at where status = 'pending' and next_attempt_at is null;
alter table gaps add constraint gaps_pending_have_a_time check (status <> 'pending' or next_attempt_at is not null);
create index gaps_pending on gaps (company_id, document_type, environment, next_attempt_at) where status = 'pending';
-- For metrics: what still waits, without a look at all that is done.
create index gaps_open on gaps (document_type, environment, status) where status in ('pending', 'exhausted', 'awaiting_confirmation');

-- Slots that were announced to somebody who asked in vain. Kept for a minute from `slot_at`.
create table point_reservations (
  company_id     uuid not null references companies (id) on delete cascade,
  document_type  text not null,
  environment    text not null,
  subject        text not null,                  -- what they asked for: NSU or access key
  slot_at        timestamptz(3) not null,
  primary key (company_id, document_type, environment, subject)
);

-- What somebody asked to have again: one document by NSU or key, or an archive decoded again.
create table reprocess_requests (
  id             uuid primary key,
  company_id     uuid not null references companies (id) on delete cascade,
  document_type  text not null,
  environment    text not null,
  nsu            bigint,
  key            text,
  archive_id     uuid,
  status         text not null,                  -- pending, done, not_available, refused, failed
  reason         text,                           -- of a refusal: quota, suspended, blocked, …
  retry_at       timestamptz(3),                 -- from then on the same question may be asked again
  status_code    text,                           -- the government's answer
  status_text    text,
  document_ids   uuid[] not null default '{}',
  call_id        text,                           -- the government call that was made for it
  created_at     timestamptz(3) not null,
  settled_at     timestamptz(3)
);
create index reprocess_requests_created on reprocess_requests (created_at);
create index reprocess_requests_call on reprocess_requests (call_id) where call_id is not null;

-- Down Migration
-- Forward only: a database of a newer version is refused by an older program.

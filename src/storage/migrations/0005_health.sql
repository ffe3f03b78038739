-- Up Migration
-- What alerts by time look at, and what was told of them by mail.

-- Last commit that moved the cursor, brought documents, or found nothing pending. Since then a capture with pending documents stands still.
alter table captures add column progressed_at timestamptz(3);
-- Last distribution query that the service answered with documents or with "none": numbering goes on for 60 days after it.
alter table captures add column searched_at timestamptz(3);
update captures set progressed_at = updated_at, searched_at = last_query_at;
create index captures_pending on captures (progressed_at) where enabled and max_nsu > ult_nsu;
create index captures_searched on captures (coalesce(searched_at, created_at));

-- When the reason of an alert was last seen: those that nothing else ends are over when it has not been for long enough.
alter table alerts add column seen_at timestamptz(3) not null default now();
alter table alerts add column mailed_at timestamptz(3);        -- told by mail
alter table alerts add column over_mailed_at timestamptz(3);   -- told by mail that it is over
create index alerts_unmailed on alerts (opened_at) where closed_at is null and mailed_at is null;
create index alerts_mailed on alerts (opened_at) where mailed_at is not null and over_mailed_at is null;
create index alerts_closed on alerts (closed_at) where closed_at is not null;

create index certificates_ending on certificates (not_after);

-- The recipient's time to answer for a note counts from its authorization. Where that is not known, from the issue: never later.
alter table documents add column authorized_at timestamptz(3);
create index documents_answerable on documents (company_id, (coalesce(authorized_at, issued_at)))
  where direction = 'received' and kind in ('procNFe', 'resNFe');

-- Down Migration
-- Forward only: a database of a newer version is refused by an older program.
